#pragma once
#include <agora/auctions.h>

#include <cstdint>
#include <vector>

namespace agora::auctions {

struct EvaluationOptions {
  int64_t profiles = 10'000;
  int64_t first = 0;  // the number of the first profile: long evaluations go piece by piece
  uint64_t seed = 0;
};

// What a mechanism earns when everybody bids the truth.
struct Evaluation {
  int64_t profiles = 0;
  double revenue = 0, revenue_error = 0;  // mean and its standard error
  double welfare = 0;                     // mean value of what bidders get
  double sale_rate = 0;                   // mean probability that an item is sold
  double ir_violation = 0;                // largest loss of a truthful bidder, at least 0
  std::vector<double> utility, payment;   // means per bidder
};

// Held-out profiles of a table, fresh draws otherwise, in bounded memory; the same bits for any
// number of threads.
Evaluation evaluate(const Mechanism& mechanism, const Setting& setting,
                    const EvaluationOptions& options);

}  // namespace agora::auctions

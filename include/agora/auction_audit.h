#pragma once
// What a mechanism earns, and how far it is from truthful and fair.
#include <agora/auctions.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Audits see a mechanism's outcomes and, where it offers them, its gradients; nothing of how it was
// made. Every draw has its own address and every sum its own order: the same bits for any number of
// threads. Memory grows by a few numbers per audited profile.
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

struct AuditOptions {
  int64_t profiles = 10'000;        // for revenue, welfare and rationality
  int64_t regret_profiles = 1'000;  // for both tests of regret; 0 leaves them out
  int64_t symmetry_profiles = 200;  // for permutations; 0 leaves them out
  bool thesis_test = true, strong_test = true;
  int starts = 100;           // the thesis's test: starts from the law of values,
  int steps = 300;            // steps of Adam
  double rate = 0.001;        // of the domain,
  bool printed_step = false;  // or as it is printed in the thesis, whatever the domain
  uint64_t seed = 0;
};

// The largest gain a search found, per profile and bidder; at least 0.
struct RegretTest {
  double mean = 0;  // over profiles and bidders
  double p99 = 0, max = 0;
  std::vector<double> per_bidder;  // means
  std::vector<double> gains;       // (profiles, bidders)
  // Where the largest gain was found.
  int64_t worst_profile = 0;
  int worst_bidder = 0;
  std::vector<double> worst_values;  // (bidders, items)
  std::vector<double> worst_bid;     // (items)
};

// Sections "Permutation-sensitivity" and "Exploitability" of ch. 4.
struct SymmetryTest {
  int64_t profiles = 0, permutations = 0;
  bool all_permutations = false;         // otherwise sampled
  std::vector<double> revenue_range;     // h_R: per profile, highest less lowest revenue
  double range_mean = 0, range_max = 0;  // of h_R
  double exploitability = 0;             // l: percent of revenue lost to the worst order of bidders
  bool exact_exploitability = false;     // otherwise searched: a lower bound
  double treatment_mean = 0;             // |utility of the same person in another seat|
  double treatment_max = 0;
};

// One bidder, one or two items: every bid of a grid against every value of it.
struct GridBound {
  int points = 0;               // per item
  double spacing = 0;           // largest, between bids
  double largest_gain = 0;      // attained on the grid: the regret is at least this
  std::optional<double> upper;  // for grid values and all bids, where an argument holds
  std::string argument;         // which
};

struct Audit {
  Evaluation truth;
  std::optional<RegretTest> thesis, strong;
  std::optional<SymmetryTest> symmetry;
  std::optional<GridBound> grid;
  double seconds = 0;
};

Audit audit(const Mechanism& mechanism, const Setting& setting, const AuditOptions& options);

// P* = (sqrt(P) - sqrt(R))^2 with the regret of all bidders together; 0 if R exceeds P.
double p_star(double revenue, double total_regret);

}  // namespace agora::auctions

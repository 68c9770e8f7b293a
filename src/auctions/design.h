#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auctions/bounds.h"
#include "auctions/mechanism.h"

// Which truthful mechanism earns most in a market.
namespace agora::auctions {

struct DesignOptions {
  double minutes = 5;
  int64_t profiles = 100'000;  // to judge on; the held-out ones of a table
  uint64_t seed = 0;
  // Networks whose regret per bidder is not above this take part too.
  std::optional<double> regret_at_most = {};
  std::function<void(const std::string&)> note = {};  // what is being done
};

struct Contender {
  std::string mechanism;
  bool truthful = true;
  double revenue = 0, revenue_error = 0;  // mean and its standard error
  double behind = 0, behind_error = 0;    // the best one's revenue less this, profile by profile
  double welfare = 0, sale_rate = 0;
  double seconds = 0;            // of its design or training
  int64_t iterations = 0;        // of a training
  std::optional<double> regret;  // of one that is not truthful
};

struct DesignResult {
  std::vector<Contender> kinds;                             // the best one first
  std::vector<std::pair<std::string, std::string>> absent;  // others, and why
  std::unique_ptr<Mechanism> best;
  int64_t profiles = 0;
  int folds = 1;           // of cross-validation; 1: judged on what is held out
  double upper_bound = 0;  // the lowest of `bounds`
  std::string bound;       // what it is
  std::vector<Bound> bounds;
};

DesignResult best_design(const Setting& setting, const DesignOptions& options);

// What a kind earns when it is designed anew for each fold of a table of few rows and judged on
// what that leaves out; nothing for tables of many, and laws.
struct CrossValidation {
  int folds = 0;
  int64_t profiles = 0;
  double revenue = 0, revenue_error = 0;
};
std::optional<CrossValidation> cross_validate(std::string_view mechanism, const Setting& setting,
                                              const ExactOptions& options);

// The best truthful mechanism that takes a moment to compute, if there is one.
std::optional<Contender> best_baseline(const Setting& setting, int64_t profiles, uint64_t seed);

}  // namespace agora::auctions

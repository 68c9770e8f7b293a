#pragma once
#include <agora/auctions.h>

#include <cstdint>
#include <memory>

namespace agora::auctions {

struct ReductionOptions {
  int64_t choices = 10'000;    // bids of the mechanism that go on the menu, drawn from the setting
  int64_t profiles = 100'000;  // on which revenue, regret and losses are measured
  uint64_t seed = 0;
};

// The first appendix of ch. 5: from any one-bidder mechanism with revenue P and regret R, the menu
// of all its outcomes at (1 - epsilon) of their prices, epsilon = sqrt(R / P), from which the
// bidder takes what it likes best.
struct Reduction {
  std::unique_ptr<Mechanism> menu;
  int64_t choices = 0;  // distinct ones, with the empty one
  double epsilon = 0;
  double revenue = 0;         // P of the mechanism
  double regret = 0;          // R: what the outcomes on the menu, at full price, add to the truth
  double bound = 0;           // (sqrt(P) - sqrt(R))^2
  double discretisation = 0;  // what the bound loses because the menu is finite: measured
  double menu_revenue = 0, menu_error = 0;  // of the menu, and its standard error
};

// Per value v, with delta(v) what v would rather have had than the best of the finite menu (its
// own outcome at the reduced price), the proof gives p'(v) >= (1 - e) p(v) - (1 - e)/e (R(v) +
// delta(v)); `discretisation` is the mean of (1 - e)/e delta(v).
Reduction reduce_to_menu(const Mechanism& mechanism, const Setting& setting,
                         const ReductionOptions& options);

}  // namespace agora::auctions

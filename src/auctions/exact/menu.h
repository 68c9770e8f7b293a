#pragma once
#include <string>
#include <vector>

#include "auctions/mechanism.h"

namespace agora::auctions {

// One bidder takes the choice of a fixed list that its bids value most; doing nothing for nothing
// is always among them. Truthful whatever the list is.
class Menu : public FixedMechanism {
 public:
  explicit Menu(Parameters parameters);  // tensor choices (K, m + 1): probabilities, price
  int64_t size() const { return static_cast<int64_t>(prices_.size()); }

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override;

 private:
  // The dearest choice first, so that a bidder who does not care takes it.
  std::vector<double> probabilities_;  // (items, choices)
  std::vector<double> prices_;         // (choices)
};

struct Choice {
  std::vector<double> probabilities;  // (items)
  double price;
};
// Drops repeated choices, adds the empty one, and checks that the rest are choices at all.
Parameters menu_parameters(const std::string& mechanism, const Setting& setting,
                           std::vector<Choice> choices);

}  // namespace agora::auctions

#pragma once
#include <string>
#include <vector>

#include "auctions/mechanism.h"

namespace agora::auctions {

// Chooses the allocation a with the highest sum of w_i v_i(a) + boost(a); bidder i pays
// (max over a of the sum without i - that sum at the chosen a) / w_i. Truthful for any positive
// weights and any boosts. All (n+1)^m ways to give the items to bidders or to nobody are listed.
class AffineMaximiser : public FixedMechanism {
 public:
  explicit AffineMaximiser(Parameters parameters);  // tensors weights (n), boosts ((n+1)^m)

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override;

 private:
  int64_t allocations_;
  std::vector<int> owner_;  // (allocations, items): a bidder or -1
  std::vector<double> weights_, boosts_;
};

// Allocation number `index`: owner of item j, digit j in base n + 1, 0 for nobody.
std::vector<int> allocation_owners(int64_t index, int bidders, int items);
int64_t allocation_count(int bidders, int items);
// Why a family of affine maximisers cannot take a setting; "" if it can.
std::string affine_refusal(const Setting& setting);

// How free parameters make boosts: boost(a) is the sum of parameters[p] over p in uses[a].
struct BoostFamily {
  int parameters = 0;
  std::vector<std::vector<int>> uses;  // (allocations)
  std::vector<double> start;           // (parameters)
};
// Boosts per class of allocations that the setting's symmetries map into each other.
BoostFamily allocation_boosts(const Setting& setting);
// Boosts per bidder and set of items, added up over the bidders (VVCA).
BoostFamily bundle_boosts(const Setting& setting);

// About how many seconds optimise_affine() takes.
double affine_effort(const Setting& setting, const std::vector<BoostFamily>& families);
// The weights and boosts of the last family that earn most on the setting's design profiles. Each
// family contains the one before it, whose answer is one of its starts.
Parameters optimise_affine(const std::string& name, const Setting& setting,
                           const std::vector<BoostFamily>& families, const Design& how);

}  // namespace agora::auctions

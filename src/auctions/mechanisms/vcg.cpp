// Vickrey-Clarke-Groves. With additive values the best allocation gives every item to the bidder
// who values it most, and what the others lose by that is the second highest value of the item.
#include <algorithm>

#include "auctions/mechanism.h"

namespace agora::auctions::kind_vcg {
namespace {

class Vcg : public FixedMechanism {
 public:
  explicit Vcg(Parameters parameters) : FixedMechanism(std::move(parameters)) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    for (int j = 0; j < items(); ++j) {
      int winner = 0;
      double second = 0.0;
      for (int i = 1; i < bidders(); ++i) {
        const double bid = bids[i * items() + j], best = bids[winner * items() + j];
        second = std::max(second, std::min(bid, best));
        if (bid > best) winner = i;
      }
      allocation[winner * items() + j] = 1.0;
      payments[winner] += second;
    }
  }
};

}  // namespace

MechanismKind entry_vcg() {
  return {.name = "vcg",
          .summary = "the efficient auction: every bidder pays what the others lose by it",
          .pays = "the highest other bid for each item",
          .trial_setting = "3x3 uniform(0,1)",
          .refusal = [](const Setting&) { return ""; },
          .design = [](const Setting& setting,
                       const Design&) { return parameters_for("vcg", setting); },
          .make = [](Parameters p) { return std::make_unique<Vcg>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_vcg

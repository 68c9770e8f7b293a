// Every item to its highest bidder at the second highest bid, but not below a reserve.
#include <algorithm>

#include "auctions/exact/reserve.h"
#include "auctions/mechanism.h"

namespace agora::auctions::kind_second_price {
namespace {

const char* const kFit = "fit-reserves";
constexpr int64_t kFitProfiles = 200'000;

class SecondPrice : public FixedMechanism {
 public:
  explicit SecondPrice(Parameters parameters)
      : FixedMechanism(std::move(parameters)),
        reserves_(tensor(this->parameters(), "reserve", {items()}).values) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    for (int j = 0; j < items(); ++j) {
      double best = -1.0, price = reserves_[j];
      int winners = 0;
      for (int i = 0; i < bidders(); ++i) {
        const double bid = bids[i * items() + j];
        if (bid < reserves_[j] || bid < best) {
          price = std::max(price, bid);
        } else if (bid == best) {
          ++winners;
        } else {
          price = std::max(price, best);
          best = bid, winners = 1;
        }
      }
      if (winners > 1) price = best;  // equal bids share the item
      for (int i = 0; winners > 0 && i < bidders(); ++i) {
        if (bids[i * items() + j] != best) continue;
        allocation[i * items() + j] = 1.0 / winners;
        payments[i] += price / winners;
      }
    }
  }

 private:
  std::vector<double> reserves_;  // (items)
};

Parameters design(const Setting& setting, const Design& how) {
  Parameters parameters = parameters_for("second-price", setting);
  const double least = how.told.number("reserve");
  std::vector<double> reserves(setting.items(), least);
  if (how.told.flag(kFit)) {
    reserves = fitted_reserves(design_values(setting, how.seed, kFitProfiles), setting.bidders(),
                               setting.items());
    for (double& reserve : reserves) reserve = std::max(reserve, least);
  }
  parameters.tensors["reserve"] = {{setting.items()}, std::move(reserves)};
  return parameters;
}

}  // namespace

MechanismKind entry_second_price() {
  return {.name = "second-price",
          .summary = "every item to its highest bidder at the second bid or the reserve",
          .pays = "for each item the highest other bid, or the reserve where that is higher",
          .trial_setting = "3x2 uniform(0,1)",
          .parameters = {{"reserve", 0, 0, kFinite, false, "reserve of every item"},
                         flag(kFit, "the reserve of each item that earns most, not below reserve")},
          .refusal = [](const Setting&) { return ""; },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<SecondPrice>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_second_price

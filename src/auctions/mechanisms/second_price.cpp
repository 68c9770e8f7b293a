// Every item to its highest bidder at the second highest bid, but not below a reserve.
#include <algorithm>

#include "auctions/exact/reserve.h"
#include "auctions/mechanism.h"

namespace agora::auctions::kind_second_price {
namespace {

class SecondPrice : public FixedMechanism {
 public:
  explicit SecondPrice(Parameters parameters)
      : FixedMechanism(std::move(parameters)),
        reserves_(tensor(this->parameters(), "reserve", {items()}).values) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    for (int j = 0; j < items(); ++j) {
      const auto bid_of = [&](int i) { return affordable(i, bids[i * items() + j]); };
      double best = -1.0, price = reserves_[j];
      int winners = 0;
      for (int i = 0; i < bidders(); ++i) {
        const double bid = bid_of(i);
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
        if (bid_of(i) != best) continue;
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
  std::vector<double> reserves = told_reserves(how, setting);
  if (how.told.flag(kFitReserves)) {
    const std::vector<double> fitted = reserves_by_profiles(how, setting);
    for (size_t j = 0; j < reserves.size(); ++j) reserves[j] = std::max(reserves[j], fitted[j]);
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
          .parameters = reserve_parameters(),
          .refusal = [](const Setting&) { return ""; },
          .takes_budgets = [](const Setting& setting) { return setting.items() == 1; },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<SecondPrice>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_second_price

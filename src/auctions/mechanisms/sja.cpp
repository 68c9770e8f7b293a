// The straight-jacket auction: one bidder, alike uniform items, one price per number of items.
#include <algorithm>
#include <numeric>

#include "auctions/exact/straight_jacket.h"
#include "auctions/mechanism.h"
#include "auctions/setting.h"

namespace agora::auctions::kind_sja {
namespace {

constexpr int kMostItems = 12;

class StraightJacket : public FixedMechanism {
 public:
  explicit StraightJacket(Parameters parameters)
      : FixedMechanism(std::move(parameters)),
        prices_(tensor(this->parameters(), "prices", {items()}).values) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    thread_local std::vector<int> order;
    order.resize(items());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return bids[a] > bids[b]; });
    double value = 0.0, best = 0.0;
    int taken = 0;
    for (int k = 1; k <= items(); ++k) {
      value += bids[order[k - 1]];
      if (value - prices_[k - 1] > best) best = value - prices_[k - 1], taken = k;
    }
    for (int k = 0; k < taken; ++k) allocation[order[k]] = 1.0;
    payments[0] = taken == 0 ? 0.0 : prices_[taken - 1];
  }

 private:
  std::vector<double> prices_;  // (items): of 1, 2, ... items
};

std::string refusal(const Setting& setting) {
  const SettingLaws& laws = laws_of(setting);
  const Law& law = laws.rows[0]->marginals()[0];
  const bool alike = laws.rows[0]->independent() && setting.item_symmetric() &&
                     law->text().starts_with("uniform(0,");
  if (setting.bidders() == 1 && alike && setting.items() <= kMostItems) return "";
  return "it takes one bidder and up to 12 items uniform(0,b); bundle, itemwise-myerson and ama "
         "take others";
}

Parameters design(const Setting& setting, const Design&) {
  Parameters parameters = parameters_for("sja", setting);
  std::vector<double> prices = straight_jacket_prices(setting.items());
  for (double& price : prices) price *= setting.domain(0, 0).high;
  parameters.tensors["prices"] = {{setting.items()}, std::move(prices)};
  return parameters;
}

}  // namespace

MechanismKind entry_sja() {
  return {.name = "sja",
          .summary = "straight-jacket auction: one bidder, alike uniform items; optimal to m = 6",
          .pays = "a price for the number of items it takes",
          .trial_setting = "1x3 uniform(0,2)",
          .refusal = refusal,
          .design = design,
          .make = [](Parameters p) { return std::make_unique<StraightJacket>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_sja

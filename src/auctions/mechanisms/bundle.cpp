// All items sold together by Myerson's auction for the law of a bidder's sum of values.
#include "auctions/exact/reserve.h"
#include "auctions/exact/virtual_value.h"
#include "auctions/setting.h"

namespace agora::auctions::kind_bundle {
namespace {

class Bundle : public FixedMechanism {
 public:
  explicit Bundle(Parameters parameters)
      : FixedMechanism(std::move(parameters)), sale_(load_sales(this->parameters(), 1)[0]) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    thread_local std::vector<double> sums, shares;
    sums.assign(bidders(), 0.0);
    shares.assign(bidders(), 0.0);
    for (int i = 0; i < bidders(); ++i) {
      for (int j = 0; j < items(); ++j) sums[i] += bids[i * items() + j];
    }
    for (int i = 0; i < bidders(); ++i) sums[i] = affordable(i, sums[i]);
    sale_.run(sums.data(), 1, shares.data(), payments);
    for (int i = 0; i < bidders(); ++i) {
      for (int j = 0; j < items(); ++j) allocation[i * items() + j] = shares[i];
    }
  }

 private:
  OptimalSale sale_;
};

std::vector<double> sums_of(const ValueTable& table) {  // (profiles, bidders)
  std::vector<double> sums(table.design.size() / table.items, 0.0);
  for (size_t k = 0; k < table.design.size(); ++k) sums[k / table.items] += table.design[k];
  return sums;
}

Parameters design(const Setting& setting, const Design&) {
  Parameters parameters = parameters_for("bundle", setting);
  if (const auto& table = laws_of(setting).table) {
    const Dependence seen = bidders_dependence(*table);
    if (seen.visible()) {
      save_reserves(parameters,
                    fitted_reserves(within_budgets(sums_of(*table), setting, 1), table->bidders, 1),
                    seen);
      return parameters;
    }
  }
  std::vector<std::vector<Law>> laws;
  for (int i = 0; i < setting.bidders(); ++i) {
    const bool same = i > 0 && setting.bidder_symmetric();
    laws.push_back({same ? laws[0][0] : sum_law(setting, i)});
  }
  save_virtual_values(parameters, laws_within_budgets(setting, std::move(laws)));
  return parameters;
}

}  // namespace

MechanismKind entry_bundle() {
  return {.name = "bundle",
          .summary = "all items as one, sold by Myerson's auction",
          .pays = "for all items together the lowest sum of bids that would have won",
          .trial_setting = "2x2 uniform(0,1)",
          .refusal = [](const Setting&) { return ""; },
          .takes_budgets = [](const Setting& setting) { return !setting.unit_demand(); },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<Bundle>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_bundle

// Every item sold on its own by Myerson's auction for its marginal law.
#include "auctions/exact/reserve.h"
#include "auctions/exact/virtual_value.h"
#include "auctions/setting.h"

namespace agora::auctions::kind_itemwise_myerson {
namespace {

class ItemwiseMyerson : public FixedMechanism {
 public:
  explicit ItemwiseMyerson(Parameters parameters)
      : FixedMechanism(std::move(parameters)), sales_(load_sales(this->parameters(), items())) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    thread_local std::vector<double> counting;
    if (items() == 1) {  // budgets are for one item only
      counting.resize(bidders());
      for (int i = 0; i < bidders(); ++i) counting[i] = affordable(i, bids[i]);
      bids = counting.data();
    }
    for (int j = 0; j < items(); ++j) sales_[j].run(bids + j, items(), allocation + j, payments);
  }

 private:
  std::vector<OptimalSale> sales_;  // (items)
};

Parameters design(const Setting& setting, const Design&) {
  Parameters parameters = parameters_for("itemwise-myerson", setting);
  if (save_fitted_reserves(parameters, setting)) return parameters;
  save_virtual_values(parameters, laws_within_budgets(setting, marginal_laws(setting)));
  return parameters;
}

}  // namespace

MechanismKind entry_itemwise_myerson() {
  return {.name = "itemwise-myerson",
          .summary = "Myerson's auction for every item on its own",
          .pays = "for each item the lowest bid that would have won it, by virtual values",
          .trial_setting = "2x3 uniform(0,1) exponential(1) beta(2,2) / power(5)",
          .refusal = [](const Setting&) { return ""; },
          .takes_budgets = [](const Setting& setting) { return setting.items() == 1; },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<ItemwiseMyerson>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_itemwise_myerson

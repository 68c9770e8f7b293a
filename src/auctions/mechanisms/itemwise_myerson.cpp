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
    for (int j = 0; j < items(); ++j) sales_[j].run(bids + j, items(), allocation + j, payments);
  }

 private:
  std::vector<OptimalSale> sales_;  // (items)
};

Parameters design(const Setting& setting, const Design&) {
  Parameters parameters = parameters_for("itemwise-myerson", setting);
  if (const auto& table = laws_of(setting).table) {
    const Dependence seen = bidders_dependence(*table);
    if (seen.visible()) {
      save_reserves(parameters, fitted_reserves(table->design, table->bidders, table->items), seen);
      return parameters;
    }
  }
  save_virtual_values(parameters, marginal_laws(setting));
  return parameters;
}

}  // namespace

MechanismKind entry_itemwise_myerson() {
  return {.name = "itemwise-myerson",
          .summary = "Myerson's auction for every item on its own",
          .pays = "for each item the lowest bid that would have won it, by virtual values",
          .trial_setting = "2x3 uniform(0,1) exponential(1) beta(2,2) / power(5)",
          .refusal = [](const Setting&) { return ""; },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<ItemwiseMyerson>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_itemwise_myerson

// The revenue-optimal auction of one item (ch. 1): the highest ironed virtual value wins.
#include "auctions/exact/reserve.h"
#include "auctions/exact/virtual_value.h"
#include "auctions/setting.h"

namespace agora::auctions::kind_myerson {
namespace {

class Myerson : public FixedMechanism {
 public:
  explicit Myerson(Parameters parameters)
      : FixedMechanism(std::move(parameters)), sale_(load_sales(this->parameters(), 1)[0]) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    thread_local std::vector<double> counting;
    counting.resize(bidders());
    for (int i = 0; i < bidders(); ++i) counting[i] = affordable(i, bids[i]);
    sale_.run(counting.data(), 1, allocation, payments);
  }

 private:
  OptimalSale sale_;
};

Parameters design(const Setting& setting, const Design&) {
  Parameters parameters = parameters_for("myerson", setting);
  if (save_fitted_reserves(parameters, setting)) return parameters;
  save_virtual_values(parameters, laws_within_budgets(setting, marginal_laws(setting)));
  return parameters;
}

}  // namespace

MechanismKind entry_myerson() {
  return {.name = "myerson",
          .summary = "the optimal auction of one item, ironed where the law is irregular",
          .pays = "the lowest bid that would have won, by virtual values",
          .trial_setting = "3x1 mix(0.7 uniform(0,1), 0.3 uniform(2,3))",
          .refusal =
              [](const Setting& setting) {
                return setting.items() == 1
                           ? ""
                           : "it sells one item; itemwise-myerson and bundle sell several";
              },
          .takes_budgets = [](const Setting&) { return true; },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<Myerson>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_myerson

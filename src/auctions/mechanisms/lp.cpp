// The optimal mechanism on finitely many types, by linear programming.
#include <algorithm>
#include <cmath>

#include "auctions/exact/menu.h"
#include "auctions/exact/optimal_lp.h"
#include "auctions/mechanism.h"
#include "base/error.h"

namespace agora::auctions::kind_lp {
namespace {

constexpr int64_t kMostProfiles = 20000;
const char* const kBayesian = "bayesian";

// Several bidders: bids count as the type at or below them. Truthful on the types themselves;
// between them a bidder may gain up to the width of a cell.
class TypedMechanism : public FixedMechanism {
 public:
  explicit TypedMechanism(Parameters parameters) : FixedMechanism(std::move(parameters)) {
    const Parameters own = this->parameters();
    space_.bidders = bidders();
    space_.items = items();
    for (int i = 0; i < bidders(); ++i) {
      int64_t types = 1;
      space_.grids.emplace_back();
      for (int j = 0; j < items(); ++j) {
        const std::string grid = fmt::format("grid.b{}i{}", i + 1, j + 1);
        space_.grids[i].push_back(tensor(own, grid, {-1}).values);
        const std::vector<double>& values = space_.grids[i][j];
        if (values.empty() || !std::is_sorted(values.begin(), values.end())) {
          throw user_error("mechanism '{}': tensor '{}' must hold rising values", name(), grid);
        }
        types *= static_cast<int64_t>(values.size());
        if (types > kMostProfiles) {
          throw user_error("mechanism '{}': more than {} types of bidder {}", name(), kMostProfiles,
                           i + 1);
        }
      }
      space_.probability.emplace_back(types, 0.0);  // only the number of types is used here
    }
    allocation_ = tensor(own, "allocation", {space_.profiles(), bidders(), items()}).values;
    payments_ = tensor(own, "payments", {space_.profiles(), bidders()}).values;
  }

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    int64_t profile = 0;
    for (int i = 0; i < bidders(); ++i) {
      const int type = std::max(0, space_.type_of(i, bids + i * items()));
      profile += type * space_.stride(i);
    }
    for (int i = 0; i < bidders(); ++i) {
      if (space_.type_of(i, bids + i * items()) < 0) continue;  // below the grid: gets nothing
      for (int j = 0; j < items(); ++j) {
        allocation[i * items() + j] = allocation_[(profile * bidders() + i) * items() + j];
      }
      payments[i] = payments_[profile * bidders() + i];
    }
  }

 private:
  TypeSpace space_;
  std::vector<double> allocation_, payments_;
};

Parameters design(const Setting& setting, const Design& how) {
  const int points = how.told.whole("points");
  const bool bayesian = how.told.flag(kBayesian);
  if (bayesian && !setting.limits().budgets.empty()) {
    throw user_error("lp, bayesian, does not take budgets: it would keep to them on average only");
  }
  const double profiles = type_profiles(setting, points);
  if (profiles > kMostProfiles) {
    throw user_error(
        "lp cannot take setting \"{}\" with {} points per item: {} type profiles, at "
        "most {}; fewer points take less",
        setting.text(), points,
        profiles < 1e15           ? fmt::format("{:.0f}", profiles)
        : std::isfinite(profiles) ? fmt::format("about {:.0e}", profiles)
                                  : "more than 1e+308",
        kMostProfiles);
  }
  const TypeSpace space = type_space(setting, points);
  const OptimalMechanism found = solve_optimal(space, !bayesian, setting.limits());
  const int n = setting.bidders(), m = setting.items();
  Parameters parameters;
  if (n == 1) {
    // One bidder chooses from what any type would get: truthful for every value, not only types.
    std::vector<Choice> choices;
    for (int64_t k = 0; k < space.profiles(); ++k) {
      const double* shares = found.allocation.data() + k * m;
      choices.push_back({std::vector<double>(shares, shares + m), found.payments[k]});
    }
    parameters = menu_parameters("lp", setting, std::move(choices));
  } else {
    parameters = parameters_for("lp", setting);
    parameters.tensors["allocation"] = {{space.profiles(), n, m}, found.allocation};
    parameters.tensors["payments"] = {{space.profiles(), n}, found.payments};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < m; ++j) {
        const std::vector<double>& grid = space.grids[i][j];
        parameters.tensors[fmt::format("grid.b{}i{}", i + 1, j + 1)] = {
            {static_cast<int64_t>(grid.size())}, grid};
      }
    }
  }
  parameters.notes["program"] = bayesian ? "bayesian" : "dominant";
  parameters.notes["revenue_on_types"] = fmt::format("{:.9g}", found.revenue);
  parameters.notes["type_profiles"] = std::to_string(space.profiles());
  parameters.notes["constraints"] = std::to_string(found.constraints);
  return parameters;
}

std::string refusal(const Setting& setting) {
  if (laws_of(setting).table) return "it needs laws, not a table; ama, bundle and menu take tables";
  for (const Row& row : laws_of(setting).rows) {
    if (!row->independent()) return "its types need independent items; ama and bundle do not";
  }
  return "";
}

}  // namespace

MechanismKind entry_lp() {
  return {.name = "lp",
          .summary = "the optimal mechanism on finitely many types, by linear programming",
          .pays = "what the table says for the types at or below the bids",
          .trial_setting = "2x2 discrete(1:0.5,2:0.3,4:0.2) discrete(1:0.7,3:0.3)",
          .average_flag = kBayesian,
          .parameters = {{"points", 50, 1, 1000, true, "points per item of a continuous law"},
                         flag(kBayesian,
                              "truth pays on average over the others, not whatever they do")},
          .refusal = refusal,
          .takes_unit_demand = [](const Setting&) { return true; },
          .takes_budgets = [](const Setting&) { return true; },
          .design = design,
          .make = [](Parameters p) -> std::unique_ptr<Mechanism> {
            if (p.bidders == 1) return std::make_unique<Menu>(std::move(p));
            return std::make_unique<TypedMechanism>(std::move(p));
          },
          .effort = [](const Setting& setting) { return setting.bidders() == 1 ? 5.0 : 60.0; }};
}

}  // namespace agora::auctions::kind_lp

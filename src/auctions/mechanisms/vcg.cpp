// Vickrey-Clarke-Groves: the best allocation, and everybody pays what the others lose by it, the
// seller among them, who values every item at its reserve. With additive values every item goes to
// the bidder who values it most, at the second highest value or the reserve.
#include <algorithm>

#include "auctions/exact/assignment.h"
#include "auctions/exact/evolution.h"
#include "auctions/exact/reserve.h"
#include "auctions/mechanism.h"
#include "auctions/setting.h"

namespace agora::auctions::kind_vcg {
namespace {

constexpr double kFitSteps = 4e8;  // of all assignments of a fit
constexpr int64_t kMostProfiles = 10'000, kFewestProfiles = 100;
constexpr int kTries = 80;  // per reserve

class Vcg : public FixedMechanism {
 public:
  explicit Vcg(Parameters parameters) : FixedMechanism(std::move(parameters)) {
    reserves_.assign(items(), 0.0);
    const Parameters own = this->parameters();
    if (own.tensors.contains("reserve")) reserves_ = tensor(own, "reserve", {items()}).values;
    one_each_ = own.limits.demand == Demand::kUnit && items() > 1;
  }

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    one_each_ ? assign(bids, allocation, payments) : sell(bids, allocation, payments);
  }

 private:
  void sell(const double* bids, double* allocation, double* payments) const {
    for (int j = 0; j < items(); ++j) {
      int winner = 0;
      double best = affordable(0, bids[j]), second = reserves_[j];
      for (int i = 1; i < bidders(); ++i) {
        const double bid = affordable(i, bids[i * items() + j]);
        second = std::max(second, std::min(bid, best));
        if (bid > best) best = bid, winner = i;
      }
      if (best < reserves_[j]) continue;
      allocation[winner * items() + j] = 1.0;
      payments[winner] += second;
    }
  }

  void assign(const double* bids, double* allocation, double* payments) const {
    const int n = bidders(), m = items();
    std::vector<double> above(static_cast<size_t>(n) * m);  // the reserves
    for (int e = 0; e < n * m; ++e) above[e] = bids[e] - reserves_[e % m];
    Assignment all(n, m), others(n, m);
    all.solve(above.data());
    const auto share = [&](int i) { return all.item(i) < 0 ? 0.0 : above[i * m + all.item(i)]; };
    for (int i = 0; i < n; ++i) {
      const int item = all.item(i);
      if (item < 0) continue;
      double now = 0.0;  // without its own bid, however large
      for (int k = 0; k < n; ++k) {
        if (k != i) now += share(k);
      }
      const double lost = others.solve(above.data(), i) - now;
      allocation[i * m + item] = 1.0;
      payments[i] = reserves_[item] + std::clamp(lost, 0.0, share(i));
    }
  }

  std::vector<double> reserves_;  // (items)
  bool one_each_ = false;
};

Parameters parameters_with(const Setting& setting, std::vector<double> reserves) {
  Parameters parameters = parameters_for("vcg", setting);
  const auto none = [](double reserve) { return reserve == 0.0; };
  if (!std::all_of(reserves.begin(), reserves.end(), none)) {
    parameters.tensors["reserve"] = {{setting.items()}, std::move(reserves)};
  }
  return parameters;
}

// Reserves of an assignment are fitted together: a bidder kept from one item wants another.
std::vector<double> fitted_together(const Setting& setting, const std::vector<double>& start,
                                    uint64_t seed) {
  const int n = setting.bidders(), m = setting.items();
  const int free = setting.item_symmetric() ? 1 : m, tries = kTries * (free + 1);
  const double steps = (n + 1.0) * std::min(n, m) * std::min(n, m) * std::max(n, m);
  const auto profiles =
      std::clamp(static_cast<int64_t>(kFitSteps / (steps * tries)), kFewestProfiles, kMostProfiles);
  const std::vector<double> values = design_values(setting, seed, profiles);
  const double unit = std::max(1e-300, *std::max_element(start.begin(), start.end()));
  const auto reserves_at = [&](const std::vector<double>& x) {
    std::vector<double> reserves(m);
    for (int j = 0; j < m; ++j) reserves[j] = unit * std::max(0.0, x[free == 1 ? 0 : j]);
    return reserves;
  };
  const auto revenue = [&](const std::vector<double>& x) {
    double sum = 0.0;
    for (const double paid : run(Vcg(parameters_with(setting, reserves_at(x))), values).payments) {
      sum += paid;
    }
    return sum;
  };
  std::vector<double> first(free);
  for (int j = 0; j < free; ++j) first[j] = start[j] / unit;
  return reserves_at(maximise(revenue, first, {.step = 0.3, .evaluations = tries, .seed = seed}));
}

Parameters design(const Setting& setting, const Design& how) {
  std::vector<double> reserves = told_reserves(how, setting);
  if (how.told.flag(kFitReserves)) {
    const bool together = setting.unit_demand() && setting.items() > 1;
    const std::vector<double> apart = reserves_by_profiles(how, setting);
    const std::vector<double> fitted = together ? fitted_together(setting, apart, how.seed) : apart;
    for (size_t j = 0; j < reserves.size(); ++j) reserves[j] = std::max(reserves[j], fitted[j]);
  }
  return parameters_with(setting, std::move(reserves));
}

}  // namespace

MechanismKind entry_vcg() {
  return {.name = "vcg",
          .summary = "the efficient auction: every bidder pays what the others lose by it",
          .pays =
              "what the others lose by it: the highest other bid for each item where values add "
              "up; not less than a reserve",
          .trial_setting = "3x3 uniform(0,1)",
          .parameters = reserve_parameters(),
          .refusal = [](const Setting&) { return ""; },
          .takes_unit_demand = [](const Setting&) { return true; },
          .takes_budgets = [](const Setting& setting) { return setting.items() == 1; },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<Vcg>(std::move(p)); }};
}

}  // namespace agora::auctions::kind_vcg

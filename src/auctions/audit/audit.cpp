#include "auctions/audit/audit.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "auctions/audit/search.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions {

double p_star(double revenue, double total_regret) {
  if (total_regret <= 0.0) return revenue;
  if (revenue <= total_regret) return 0.0;
  const double root = std::sqrt(revenue) - std::sqrt(total_regret);
  return root * root;
}

namespace {

void check_memory(const Setting& setting, const AuditOptions& options) {
  const double bytes = kFewestTogether * search_bytes(setting, options);
  if (bytes <= kMostSearchBytes) return;
  throw user_error(
      "a search for lies in {}x{} takes about {:.2g} GB per thread, at most {:.2g}; 0 "
      "profiles for regret leave it out",
      setting.bidders(), setting.items(), bytes / 1e9, kMostSearchBytes / 1e9);
}

// evaluate() looks at the rest.
void check_finite(const Mechanism& mechanism, const Audit& audit) {
  std::vector<std::pair<const char*, double>> numbers;
  if (audit.thesis) numbers.emplace_back("regret by the thesis's test", audit.thesis->mean);
  if (audit.strong) numbers.emplace_back("regret by the strong test", audit.strong->mean);
  if (audit.symmetry) {
    numbers.emplace_back("permutation sensitivity", audit.symmetry->range_mean);
    numbers.emplace_back("exploitability", audit.symmetry->exploitability);
    numbers.emplace_back("gap between seats", audit.symmetry->treatment_mean);
  }
  if (audit.grid) numbers.emplace_back("regret on the grid", audit.grid->largest_gain);
  for (const auto& [what, value] : numbers) {
    if (!std::isfinite(value)) throw user_error("{}: the {} is not finite", mechanism.name(), what);
  }
}

}  // namespace

AuditOptions affordable(AuditOptions most, const Setting& setting) {
  // In numbers that a mechanism reads: seconds for a simple one.
  constexpr double kTruths = 1e8, kLies = 1e10, kOrders = 2e10;
  const double n = setting.bidders(), m = setting.items(), size = n * m;
  const auto at_most = [](int64_t& profiles, double budget, double per_profile, double least) {
    profiles = std::min(profiles, static_cast<int64_t>(std::max(least, budget / per_profile)));
  };
  at_most(most.profiles, kTruths, size, 100);
  at_most(most.regret_profiles, kLies, n * size * 1000 * m, 1);
  at_most(most.symmetry_profiles, kOrders, size * (1000 + n * n * n), 0);
  return most;
}

Audit audit(const Mechanism& mechanism, const Setting& setting, const AuditOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (options.regret_profiles > 0) check_memory(setting, options);
  Audit result;
  result.truth = evaluate(mechanism, setting,
                          {.profiles = options.profiles, .first = 0, .seed = options.seed});
  throw_if_stopped();
  if (options.regret_profiles > 0) {
    RegretTests found = regret_tests(mechanism, setting, options);
    result.thesis = std::move(found.thesis);
    result.strong = std::move(found.strong);
    throw_if_stopped();
  }
  if (options.symmetry_profiles > 0) result.symmetry = symmetry_test(mechanism, setting, options);
  const bool small = setting.bidders() == 1 && setting.items() <= 2;
  const bool continuous = !laws_of(setting).table && marginal_laws(setting)[0][0]->atoms().empty();
  if (small && continuous && options.regret_profiles > 0) {
    result.grid = grid_bound(mechanism, setting);
  }
  check_finite(mechanism, result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace agora::auctions

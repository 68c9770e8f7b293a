#include "auctions/audit/audit.h"

#include <chrono>
#include <cmath>

#include "auctions/setting.h"
#include "base/signals.h"

namespace agora::auctions {

double p_star(double revenue, double total_regret) {
  if (total_regret <= 0.0) return revenue;
  if (revenue <= total_regret) return 0.0;
  const double root = std::sqrt(revenue) - std::sqrt(total_regret);
  return root * root;
}

Audit audit(const Mechanism& mechanism, const Setting& setting, const AuditOptions& options) {
  const auto start = std::chrono::steady_clock::now();
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
  const bool continuous = !setting.laws().table && marginal_laws(setting)[0][0]->atoms().empty();
  if (small && continuous && options.symmetry_profiles > 0) {
    result.grid = grid_bound(mechanism, setting);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace agora::auctions

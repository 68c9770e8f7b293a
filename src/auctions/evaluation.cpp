#include <agora/auction_audit.h>

#include <algorithm>
#include <cmath>

#include "auctions/limits.h"
#include "auctions/mechanism.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kSlice = 1024;  // profiles at a time,
constexpr int64_t kPartsAtOnce = 4096;
constexpr int64_t kCells = int64_t{1} << 22;  // fewer where these hold more values

struct Sums {
  double revenue = 0, revenue_squares = 0, welfare = 0, sold = 0, worst = 0;
  std::vector<double> utility, payment;
};

}  // namespace

Evaluation evaluate(const Mechanism& mechanism, const Setting& setting,
                    const EvaluationOptions& options) {
  const int n = setting.bidders(), m = setting.items();
  check_fits(mechanism, setting);
  int64_t profiles = options.profiles;
  if (setting.held_out() > 0) profiles = std::min(profiles, setting.held_out());
  const int64_t slice = std::clamp<int64_t>(kCells / (int64_t{n} * m), 1, kSlice);
  const int64_t parts = (profiles + slice - 1) / slice;
  Evaluation result;
  result.profiles = profiles;
  result.utility.assign(n, 0.0);
  result.payment.assign(n, 0.0);
  const auto total = static_cast<double>(profiles);
  double squares = 0.0;
  std::vector<Sums> sums;
  const auto measure = [&](int64_t part, Sums& own) {
    const int64_t first = part * slice, count = std::min(profiles - first, slice);
    std::vector<double> values(count * n * m), allocation(count * n * m), payments(count * n);
    setting.sample_held_out(options.seed, kEvaluationStream, options.first + first, count,
                            values.data());
    run_checked(mechanism, count, n, m, values.data(), allocation.data(), payments.data());
    check_limits(mechanism, setting, count, allocation.data(), payments.data());
    own.utility.assign(n, 0.0);
    own.payment.assign(n, 0.0);
    for (int64_t k = 0; k < count; ++k) {
      double revenue = 0.0;
      for (int i = 0; i < n; ++i) {
        double value = 0.0;
        for (int j = 0; j < m; ++j) {
          const int64_t cell = (k * n + i) * m + j;
          value += allocation[cell] * values[cell];
          own.sold += allocation[cell];
        }
        const double payment = payments[k * n + i];
        revenue += payment;
        own.welfare += value;
        own.payment[i] += payment;
        own.utility[i] += value - payment;
        own.worst = std::max(own.worst, payment - value);
      }
      own.revenue += revenue;
      own.revenue_squares += revenue * revenue;
    }
  };
  for (int64_t begin = 0; begin < parts; begin += kPartsAtOnce) {
    sums.assign(std::min(parts - begin, kPartsAtOnce), Sums());
    default_pool().run(static_cast<int64_t>(sums.size()),
                       [&](int64_t part) { measure(begin + part, sums[part]); });
    for (const Sums& own : sums) {
      result.revenue += own.revenue / total;
      squares += own.revenue_squares / total;
      result.welfare += own.welfare / total;
      result.sale_rate += own.sold / (total * m);
      result.ir_violation = std::max(result.ir_violation, own.worst);
      for (int i = 0; i < n; ++i) {
        result.utility[i] += own.utility[i] / total;
        result.payment[i] += own.payment[i] / total;
      }
    }
  }
  const double variance = std::max(0.0, squares - result.revenue * result.revenue);
  result.revenue_error = profiles > 1 ? std::sqrt(variance / (total - 1.0)) : 0.0;
  const std::pair<const char*, double> numbers[] = {
      {"revenue", result.revenue},
      {"revenue's standard error", result.revenue_error},
      {"welfare", result.welfare},
      {"sale rate", result.sale_rate},
      {"IR violation", result.ir_violation}};
  for (const auto& [what, value] : numbers) {
    if (std::isfinite(value)) continue;
    throw user_error("{} on setting \"{}\": the {} is not finite", mechanism.name(), setting.text(),
                     what);
  }
  return result;
}

}  // namespace agora::auctions

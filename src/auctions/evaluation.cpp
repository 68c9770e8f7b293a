#include <agora/auction_audit.h>

#include <algorithm>
#include <cmath>

#include "auctions/setting.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kSlice = 1024;  // profiles at a time

struct Sums {
  double revenue = 0, revenue_squares = 0, welfare = 0, sold = 0, worst = 0;
  std::vector<double> utility, payment;
};

}  // namespace

Evaluation evaluate(const Mechanism& mechanism, const Setting& setting,
                    const EvaluationOptions& options) {
  const int n = setting.bidders(), m = setting.items();
  if (!mechanism.accepts(n, m)) {
    throw user_error("{} is for {}x{}, setting \"{}\" is {}x{}", mechanism.name(),
                     mechanism.bidders(), mechanism.items(), setting.text(), n, m);
  }
  int64_t profiles = options.profiles;
  if (setting.held_out() > 0) profiles = std::min(profiles, setting.held_out());
  const int64_t parts = (profiles + kSlice - 1) / kSlice;
  std::vector<Sums> sums(parts);
  default_pool().run(parts, [&](int64_t part) {
    const int64_t first = part * kSlice, count = std::min(profiles - first, kSlice);
    std::vector<double> values(count * n * m), allocation(count * n * m), payments(count * n);
    setting.sample_held_out(options.seed, kEvaluationStream, options.first + first, count,
                            values.data());
    mechanism.run(count, n, m, values.data(), allocation.data(), payments.data());
    Sums& own = sums[part];
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
  });
  Evaluation result;
  result.profiles = profiles;
  result.utility.assign(n, 0.0);
  result.payment.assign(n, 0.0);
  const auto total = static_cast<double>(profiles);
  double squares = 0.0;
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
  const double variance = std::max(0.0, squares - result.revenue * result.revenue);
  result.revenue_error = profiles > 1 ? std::sqrt(variance / (total - 1.0)) : 0.0;
  return result;
}

}  // namespace agora::auctions

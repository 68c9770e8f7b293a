#include "auctions/reduction.h"

#include <algorithm>
#include <cmath>

#include "auctions/exact/menu.h"
#include "auctions/limits.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kSlice = 1024;

// Outcomes of `count` profiles of a stream.
std::vector<Choice> outcomes(const Mechanism& mechanism, const Setting& setting, uint64_t seed,
                             uint32_t stream, int64_t count, std::vector<double>& values) {
  const int m = setting.items();
  values.resize(count * m);
  setting.sample(seed, stream, 0, count, values.data());
  std::vector<double> allocation(count * m), payments(count);
  run_parallel(mechanism, count, 1, m, values.data(), allocation.data(), payments.data());
  std::vector<Choice> result(count);
  for (int64_t k = 0; k < count; ++k) {
    result[k].probabilities.assign(allocation.begin() + k * m, allocation.begin() + (k + 1) * m);
    for (double& share : result[k].probabilities) share = std::clamp(share, 0.0, 1.0);
    result[k].price = std::max(0.0, payments[k]);
  }
  return result;
}

double worth(const Choice& choice, const double* value) {
  double sum = -choice.price;
  for (size_t j = 0; j < choice.probabilities.size(); ++j) {
    sum += value[j] * choice.probabilities[j];
  }
  return sum;
}

std::unique_ptr<Menu> menu_of(const Setting& setting, std::vector<Choice> choices, double share) {
  for (Choice& choice : choices) choice.price *= share;
  return std::make_unique<Menu>(menu_parameters("menu", setting, std::move(choices)));
}

}  // namespace

Reduction reduce_to_menu(const Mechanism& mechanism, const Setting& setting,
                         const ReductionOptions& options) {
  if (setting.bidders() != 1 || mechanism.bidders() != 1) {
    throw user_error("the truthful reduction takes one bidder, found {}",
                     std::max(setting.bidders(), mechanism.bidders()));
  }
  check_fits(mechanism, setting);
  const int m = setting.items();
  check_memory("profiles", options.profiles, setting);
  std::vector<double> menu_values, values;
  const std::vector<Choice> listed =
      outcomes(mechanism, setting, options.seed, kReductionStream, options.choices, menu_values);
  const std::vector<Choice> own =
      outcomes(mechanism, setting, options.seed, kEvaluationStream, options.profiles, values);
  // What the value of profile k gets from a menu: utility and price.
  const auto served = [&](const Menu& menu, int64_t k) {
    Choice choice{std::vector<double>(m), 0.0};
    menu.run(1, 1, m, values.data() + k * m, choice.probabilities.data(), &choice.price);
    return choice;
  };
  const int64_t parts = (options.profiles + kSlice - 1) / kSlice;
  const auto mean_over_profiles = [&](auto term) {
    std::vector<double> sums(parts, 0.0);
    default_pool().run(parts, [&](int64_t part) {
      for (int64_t k = part * kSlice; k < std::min(options.profiles, (part + 1) * kSlice); ++k) {
        sums[part] += term(k);
      }
    });
    double total = 0.0;
    for (double sum : sums) total += sum;
    return total / static_cast<double>(options.profiles);
  };
  Reduction result;
  for (const Choice& choice : own) result.revenue += choice.price;
  result.revenue /= static_cast<double>(options.profiles);
  const std::unique_ptr<Menu> full_price = menu_of(setting, listed, 1.0);
  result.regret = mean_over_profiles([&](int64_t k) {
    const double* value = values.data() + k * m;
    return std::max(0.0, worth(served(*full_price, k), value) - worth(own[k], value));
  });
  if (!(result.revenue > 0.0))
    throw user_error("{} earns nothing: no menu to make", mechanism.name());
  result.epsilon = std::min(1.0, std::sqrt(result.regret / result.revenue));
  const double share = 1.0 - result.epsilon;
  auto menu = menu_of(setting, listed, share);
  result.choices = menu->size();
  const double root = std::sqrt(result.revenue) - std::sqrt(result.regret);
  result.bound = root > 0.0 ? root * root : 0.0;
  double squares = 0.0;
  result.menu_revenue = mean_over_profiles([&](int64_t k) { return served(*menu, k).price; });
  squares = mean_over_profiles([&](int64_t k) {
    const double price = served(*menu, k).price;
    return price * price;
  });
  const double missing = mean_over_profiles([&](int64_t k) {
    const double* value = values.data() + k * m;
    Choice wanted = own[k];
    wanted.price *= share;
    return std::max(0.0, worth(wanted, value) - worth(served(*menu, k), value));
  });
  // Without regret the reduced menu is the mechanism's own, and its loss is measured directly.
  result.discretisation = result.epsilon > 0.0
                              ? share / result.epsilon * missing
                              : std::max(0.0, result.revenue - result.menu_revenue);
  result.menu_error = std::sqrt(std::max(0.0, squares - result.menu_revenue * result.menu_revenue) /
                                static_cast<double>(std::max<int64_t>(1, options.profiles - 1)));
  result.menu = std::move(menu);
  return result;
}

}  // namespace agora::auctions

#include "auctions/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "auctions/exact/assignment.h"
#include "auctions/exact/virtual_value.h"
#include "auctions/limits.h"
#include "auctions/setting.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kSlice = 1024, kPartsAtOnce = 256;

using Levels = std::vector<std::shared_ptr<VirtualValue>>;  // (bidders, items); empty: no bound

Levels virtual_values(const Setting& setting) {
  Levels levels;
  if (laws_of(setting).table) return levels;
  for (const Row& row : laws_of(setting).rows) {
    if (!row->independent()) return levels;
  }
  std::map<std::string, std::shared_ptr<VirtualValue>> known;
  for (const auto& row : marginal_laws(setting)) {
    for (const Law& law : row) {
      auto& level = known[law->text()];
      if (!level) level = std::make_shared<VirtualValue>(*law);
      levels.push_back(level);
    }
  }
  return levels;
}

// What weights (n, m) add up to at most: every item to whoever has the largest, or, if there is an
// assignment, one item each.
double best_sum(const std::vector<double>& weights, int m, Assignment* one_each) {
  if (one_each != nullptr) return one_each->solve(weights.data());
  std::vector<double> most(m, 0.0);
  for (size_t e = 0; e < weights.size(); ++e) most[e % m] = std::max(most[e % m], weights[e]);
  return std::accumulate(most.begin(), most.end(), 0.0);
}

// What items are worth to those who value them most, none of them more than its budget.
double most_payments(const Setting& setting, const double* values, Assignment* one_each) {
  const int n = setting.bidders(), m = setting.items();
  std::vector<double> weights(values, values + n * m);
  double all = 0.0;  // of what bidders could pay if each had every item
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int j = 0; j < m; ++j) {
      sum += weights[i * m + j];
      weights[i * m + j] = std::min(weights[i * m + j], setting.budget(i));
    }
    all += std::min(sum, setting.budget(i));
  }
  return std::min(all, best_sum(weights, m, one_each));
}

// The dual bound of Cai, Devanur and Weinberg for one profile: in the item that a bidder gains most
// from, at prices of 0 or the highest other bids, its virtual value counts, in all others its
// value. Limits take outcomes away, so that it stays a bound.
double dual_of(const Levels& levels, const double* values, int n, int m, bool priced,
               Assignment* one_each) {
  std::vector<double> weights(values, values + n * m);
  for (int i = 0; i < n; ++i) {
    int favourite = -1;
    double gain = 0.0;
    for (int j = 0; j < m; ++j) {
      double other = 0.0;
      for (int l = 0; l < n; ++l) {
        if (priced && l != i) other = std::max(other, values[l * m + j]);
      }
      const double left = values[i * m + j] - other;
      if (left >= gain && (favourite < 0 || left > gain)) favourite = j, gain = left;
    }
    if (favourite < 0) continue;
    const int cell = i * m + favourite;
    weights[cell] = (*levels[cell])(values[cell]);
  }
  return best_sum(weights, m, one_each);
}

}  // namespace

struct Comparison::Sums {
  std::vector<double> revenue, products, welfare, sold;
  double most_welfare = 0, dual[2] = {0, 0};
};

Comparison::Comparison(int mechanisms)
    : count_(mechanisms),
      revenue_(mechanisms),
      products_(static_cast<size_t>(mechanisms) * mechanisms),
      welfare_(mechanisms),
      sold_(mechanisms) {}

void Comparison::measure(const std::vector<const Mechanism*>& mechanisms, const Setting& setting,
                         int64_t profiles, uint64_t seed) {
  const int n = setting.bidders(), m = setting.items();
  items_ = m;
  if (setting.held_out() > 0) profiles = std::min(profiles, setting.held_out());
  const Levels levels = virtual_values(setting);
  const int64_t parts = (profiles + kSlice - 1) / kSlice;
  const auto add = [&](int64_t part, Sums& own) {
    const int64_t first = part * kSlice, count = std::min(kSlice, profiles - first);
    std::vector<double> values(count * n * m), allocation(values.size()), payments(count * n);
    std::vector<double> earned(count * count_);
    Assignment one_each(n, m);
    Assignment* const assignment = setting.unit_demand() ? &one_each : nullptr;
    setting.sample_held_out(seed, kEvaluationStream, first, count, values.data());
    own.welfare.assign(count_, 0.0);
    own.sold.assign(count_, 0.0);
    own.revenue.assign(count_, 0.0);
    own.products.assign(products_.size(), 0.0);
    for (int a = 0; a < count_; ++a) {
      run_checked(*mechanisms[a], count, n, m, values.data(), allocation.data(), payments.data());
      check_limits(*mechanisms[a], setting, count, allocation.data(), payments.data());
      for (size_t e = 0; e < values.size(); ++e) {
        own.welfare[a] += values[e] * allocation[e];
        own.sold[a] += allocation[e];
      }
      for (int64_t k = 0; k < count * n; ++k) earned[k / n * count_ + a] += payments[k];
    }
    for (int64_t k = 0; k < count; ++k) {
      const double* row = earned.data() + k * count_;
      for (int a = 0; a < count_; ++a) {
        own.revenue[a] += row[a];
        for (int b = 0; b < count_; ++b) own.products[a * count_ + b] += row[a] * row[b];
      }
      const double* profile = values.data() + k * n * m;
      own.most_welfare += most_payments(setting, profile, assignment);
      for (int priced = 0; !levels.empty() && priced < 2; ++priced) {
        own.dual[priced] += dual_of(levels, profile, n, m, priced == 1, assignment);
      }
    }
  };
  const auto plus = [](std::vector<double>& to, const std::vector<double>& from) {
    for (size_t k = 0; k < to.size(); ++k) to[k] += from[k];
  };
  for (int64_t begin = 0; begin < parts; begin += kPartsAtOnce) {
    std::vector<Sums> sums(std::min(parts - begin, kPartsAtOnce));
    default_pool().run(static_cast<int64_t>(sums.size()),
                       [&](int64_t part) { add(begin + part, sums[part]); });
    for (const Sums& own : sums) {
      plus(revenue_, own.revenue);
      plus(products_, own.products);
      plus(welfare_, own.welfare);
      plus(sold_, own.sold);
      most_welfare_ += own.most_welfare;
      for (int k = 0; k < 2; ++k) {
        dual_[k] += levels.empty() ? std::numeric_limits<double>::infinity() : own.dual[k];
      }
    }
  }
  profiles_ += profiles;
}

int Comparison::best() const {
  return static_cast<int>(std::max_element(revenue_.begin(), revenue_.end()) - revenue_.begin());
}

void Comparison::fill(int mechanism, Contender& to) const {
  const auto total = static_cast<double>(profiles_);
  const auto mean = [&](const std::vector<double>& sums, size_t k) { return sums[k] / total; };
  const auto product = [&](int a, int b) {
    return mean(products_, static_cast<size_t>(a) * count_ + b);
  };
  const auto error = [&](double squares, double average) {
    return profiles_ > 1 ? std::sqrt(std::max(0.0, squares - average * average) / (total - 1))
                         : 0.0;
  };
  const int top = best();
  to.revenue = mean(revenue_, mechanism);
  to.revenue_error = error(product(mechanism, mechanism), to.revenue);
  to.behind = mean(revenue_, top) - to.revenue;
  to.behind_error = error(
      product(top, top) + product(mechanism, mechanism) - 2 * product(top, mechanism), to.behind);
  to.welfare = mean(welfare_, mechanism);
  to.sale_rate = mean(sold_, mechanism) / items_;
}

}  // namespace agora::auctions

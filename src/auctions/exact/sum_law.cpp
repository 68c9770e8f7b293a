// The law of a bidder's value of all items together.
#include <algorithm>
#include <cmath>

#include "auctions/exact/virtual_value.h"
#include "auctions/setting.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr int kCapped = 4096;  // values of a law that a budget cuts off

constexpr int kCells = 1 << 14;         // of the sum's range
constexpr double kTail = 1e-7;          // unbounded items are cut here
constexpr size_t kMostAtoms = 1 << 16;  // exact sums of discrete items up to here
constexpr int kDraws = 1 << 20;         // of dependent items
constexpr int kQuantiles = 1 << 12;     // kept of those draws

// Item by item, each as masses in the middles of cells of one width; every mass of the sum is
// then spread over its cell. The errors of the cdf are of second order in the width.
Law convolved(const std::vector<Law>& items, const std::string& text) {
  double low = 0.0, range = 0.0;
  std::vector<double> widths;
  for (const Law& item : items) {
    const auto [first, last] = item->support();
    widths.push_back((std::isinf(last) ? item->quantile(1.0 - kTail) : last) - first);
    low += first;
    range += widths.back();
  }
  const double h = range / kCells;
  std::vector<double> sum{1.0};
  for (size_t j = 0; j < items.size(); ++j) {
    const double first = items[j]->support().low;
    const int cells = std::max(1, static_cast<int>(std::ceil(widths[j] / h)));
    std::vector<double> mass(cells);
    for (int k = 0; k < cells; ++k) {
      mass[k] = items[j]->cdf(first + (k + 1) * h) - items[j]->cdf(first + k * h);
    }
    std::vector<double> next(sum.size() + cells - 1, 0.0);
    for (size_t a = 0; a < sum.size(); ++a) {
      for (int k = 0; k < cells; ++k) next[a + k] += sum[a] * mass[k];
    }
    sum = std::move(next);
  }
  const double start = low + 0.5 * (static_cast<double>(items.size()) - 1.0) * h;
  std::vector<double> points{start}, cdf{0.0};
  for (size_t k = 0; k < sum.size(); ++k) {
    points.push_back(start + (k + 1) * h);
    cdf.push_back(cdf.back() + sum[k]);
  }
  // Cells without mass at the ends are no part of the support.
  while (cdf.size() > 2 && cdf[cdf.size() - 2] >= cdf.back()) cdf.pop_back(), points.pop_back();
  return tabulated(std::move(points), std::move(cdf), text);
}

Law discrete_sum(const std::vector<Law>& items) {
  std::vector<Atom> sum{{0.0, 1.0}};
  for (const Law& item : items) {
    std::vector<Atom> next;
    for (const Atom& a : sum) {
      for (const Atom& b : item->atoms()) {
        next.push_back({a.value + b.value, a.probability * b.probability});
      }
    }
    sum = discrete(std::move(next))->atoms();
  }
  return discrete(std::move(sum));
}

Law drawn_sum(const RowLaw& row, const std::string& text) {
  const size_t m = row.marginals().size();
  std::vector<double> sums(kDraws), values(m);
  for (int k = 0; k < kDraws; ++k) {
    Rng rng(0, kDesignStream, 1, static_cast<uint32_t>(k));
    row.sample(rng, values.data());
    sums[k] = 0.0;
    for (double value : values) sums[k] += value;
  }
  std::sort(sums.begin(), sums.end());
  std::vector<double> points, cdf;
  for (int k = 0; k <= kQuantiles; ++k) {
    const double share = k / double{kQuantiles};
    const double point = sums[std::min<size_t>(kDraws - 1, share * kDraws)];
    if (!points.empty() && point <= points.back()) {
      cdf.back() = share;
      continue;
    }
    points.push_back(point);
    cdf.push_back(share);
  }
  if (points.size() < 2) return empirical(std::move(sums), text);
  cdf.front() = 0.0;
  return tabulated(std::move(points), std::move(cdf), text);
}

}  // namespace

std::vector<std::vector<Law>> laws_within_budgets(const Setting& setting,
                                                  std::vector<std::vector<Law>> laws) {
  for (int i = 0; i < setting.bidders(); ++i) {
    const double budget = setting.budget(i);
    for (Law& law : laws[i]) {
      if (law->support().high <= budget) continue;
      std::vector<double> values;
      for (int k = 0; k < kCapped; ++k) {
        values.push_back(std::min(budget, law->quantile((k + 0.5) / kCapped)));
      }
      law = empirical(std::move(values), fmt::format("{} up to {}", law->text(), budget));
    }
  }
  return laws;
}

Law sum_law(const Setting& setting, int bidder) {
  const SettingLaws& laws = laws_of(setting);
  const std::vector<Law>& items = laws.rows[bidder]->marginals();
  if (items.size() == 1) return items[0];
  const std::string text = fmt::format("sum({})", laws.rows[bidder]->text());
  if (laws.table) {
    std::vector<double> sums;
    const int64_t size = laws.table->profile_size();
    for (int64_t k = 0; k < laws.table->design_profiles(); ++k) {
      const double* row = laws.table->design.data() + k * size + bidder * laws.items;
      double sum = 0.0;
      for (int j = 0; j < laws.items; ++j) sum += row[j];
      sums.push_back(sum);
    }
    return empirical(std::move(sums), fmt::format("{} bidder {}", text, bidder + 1));
  }
  if (!laws.rows[bidder]->independent()) return drawn_sum(*laws.rows[bidder], text);
  size_t atoms = 1;
  bool any_discrete = false, all_discrete = true;
  for (const Law& item : items) {
    const size_t count = item->atoms().size();
    any_discrete = any_discrete || count > 0;
    all_discrete = all_discrete && count > 0;
    atoms = std::min(kMostAtoms + 1, atoms * std::max<size_t>(count, 1));
  }
  if (all_discrete && atoms <= kMostAtoms) return discrete_sum(items);
  return any_discrete ? drawn_sum(*laws.rows[bidder], text) : convolved(items, text);
}

}  // namespace agora::auctions

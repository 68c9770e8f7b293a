#include "auctions/exact/reserve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "auctions/exact/virtual_value.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr double kManyErrors = 5.0;  // of a correlation, that are no chance
constexpr int64_t kFitProfiles = 200'000, kFitNumbers = 12'000'000;  // at most
constexpr double kFarOut = 1e6;           // times the reserve or more: no bid is there
constexpr double kHighestReserve = 0.95;  // a quantile

std::vector<double> ranks(const ValueTable& table, int cell) {
  const int64_t count = table.design_profiles();
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto value = [&](int64_t k) { return table.design[k * table.profile_size() + cell]; };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return value(a) < value(b); });
  std::vector<double> result(count);
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {  // equal ones share their rank
    while (end < count && value(order[end]) == value(order[begin])) ++end;
    for (int64_t k = begin; k < end; ++k) result[order[k]] = 0.5 * static_cast<double>(begin + end);
  }
  return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double count = static_cast<double>(a.size()), middle = 0.5 * count;
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (size_t k = 0; k < a.size(); ++k) {
    ab += (a[k] - middle) * (b[k] - middle);
    aa += (a[k] - middle) * (a[k] - middle);
    bb += (b[k] - middle) * (b[k] - middle);
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

}  // namespace

// A sale at reserve r earns the second bid where that is at least r, else r if the highest bid is.
// Only highest bids need be tried.
double best_reserve(const std::vector<std::pair<double, double>>& sales) {
  std::vector<double> highest, second;
  for (const auto& [first, next] : sales) highest.push_back(first), second.push_back(next);
  std::sort(highest.begin(), highest.end(), std::greater<>());
  std::sort(second.begin(), second.end(), std::greater<>());
  double best = 0.0, most = 0.0, competitive = 0.0;
  for (const double bid : second) most += bid;  // without a reserve
  size_t contested = 0;
  for (size_t sold = 1; sold <= highest.size(); ++sold) {
    const double reserve = highest[sold - 1];
    if (sold < highest.size() && highest[sold] == reserve) continue;
    while (contested < second.size() && second[contested] >= reserve) {
      competitive += second[contested++];
    }
    const double earned = competitive + reserve * static_cast<double>(sold - contested);
    if (earned > most) most = earned, best = reserve;
  }
  return best;
}

std::vector<double> fitted_reserves(const std::vector<double>& profiles, int n, int m) {
  const int64_t size = int64_t{n} * m, count = static_cast<int64_t>(profiles.size()) / size;
  std::vector<double> reserves;
  for (int j = 0; j < m; ++j) {
    std::vector<std::pair<double, double>> sales;
    for (int64_t k = 0; k < count; ++k) {
      double best = 0.0, second = 0.0;
      for (int i = 0; i < n; ++i) {
        const double bid = profiles[k * size + int64_t{i} * m + j];
        second = std::max(second, std::min(best, bid));
        best = std::max(best, bid);
      }
      sales.emplace_back(best, second);
    }
    reserves.push_back(best_reserve(sales));
  }
  return reserves;
}

std::vector<Parameter> reserve_parameters() {
  return {numbers("reserve", 0, 0, kFinite, "reserve of every item, or of each: 0.3,0.5"),
          flag(kFitReserves, "the reserve of each item that earns most, not below reserve")};
}

std::vector<double> told_reserves(const Design& how, const Setting& setting) {
  std::vector<double> reserves = how.told.numbers("reserve");
  const auto items = static_cast<size_t>(setting.items());
  if (reserves.size() == 1) reserves.assign(items, reserves[0]);
  if (reserves.size() != items) {
    throw user_error("reserve: expected 1 or {} numbers for setting \"{}\", found {}", items,
                     setting.text(), reserves.size());
  }
  return reserves;
}

int64_t fit_profiles(const Setting& setting) {
  const int64_t size = int64_t{setting.bidders()} * setting.items();
  return std::clamp<int64_t>(kFitNumbers / size, 1, kFitProfiles);
}

std::vector<double> reserves_by_profiles(const Design& how, const Setting& setting) {
  return fitted_reserves(within_budgets(design_values(setting, how.seed, fit_profiles(setting)),
                                        setting, setting.items()),
                         setting.bidders(), setting.items());
}

std::vector<double> within_budgets(std::vector<double> profiles, const Setting& setting,
                                   int items) {
  const int n = setting.bidders();
  for (size_t e = 0; e < profiles.size(); ++e) {
    const auto bidder = static_cast<int>(e / static_cast<size_t>(items) % static_cast<size_t>(n));
    profiles[e] = std::min(profiles[e], setting.budget(bidder));
  }
  return profiles;
}

Dependence bidders_dependence(const ValueTable& table) {
  Dependence found;
  found.chance = kManyErrors / std::sqrt(static_cast<double>(table.design_profiles()));
  for (int j = 0; j < table.items; ++j) {
    std::vector<std::vector<double>> of;
    for (int i = 0; i < table.bidders; ++i) of.push_back(ranks(table, i * table.items + j));
    for (size_t a = 0; a < of.size(); ++a) {
      for (size_t b = a + 1; b < of.size(); ++b) {
        found.correlation = std::max(found.correlation, std::abs(correlation(of[a], of[b])));
      }
    }
  }
  return found;
}

bool save_fitted_reserves(Parameters& parameters, const Setting& setting) {
  const auto& table = laws_of(setting).table;
  if (!table) return false;
  const Dependence seen = bidders_dependence(*table);
  if (!seen.visible()) return false;
  save_reserves(parameters,
                fitted_reserves(within_budgets(table->design, setting, table->items),
                                table->bidders, table->items),
                seen);
  return true;
}

void save_reserves(Parameters& parameters, const std::vector<double>& reserves,
                   const Dependence& why) {
  const auto sales = static_cast<int64_t>(reserves.size());
  Parameters::Tensor index{{parameters.bidders, sales}, {}};
  for (int i = 0; i < parameters.bidders; ++i) {
    for (int64_t j = 0; j < sales; ++j) index.values.push_back(static_cast<double>(j));
  }
  parameters.tensors["law"] = std::move(index);
  for (int64_t j = 0; j < sales; ++j) {
    const double far = kFarOut * (1.0 + reserves[j]);
    parameters.tensors[fmt::format("virtual_value.{}", j)] = {
        {2, 2}, {reserves[j], 0.0, far, far - reserves[j]}};
  }
  parameters.notes["reserves"] = fmt::format(
      "fitted to the rows: bidders' values depend on each other (rank correlation "
      "{:.2f}, chance makes {:.2f})",
      why.correlation, why.chance);
}

std::vector<double> reserves_for(const Setting& setting) {
  const int n = setting.bidders(), m = setting.items();
  std::vector<double> result;
  if (const auto& table = laws_of(setting).table) {
    const std::vector<double> reserves = fitted_reserves(table->design, n, m);
    for (int i = 0; i < n; ++i) result.insert(result.end(), reserves.begin(), reserves.end());
    return result;
  }
  const std::vector<std::vector<Law>> laws = marginal_laws(setting);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      if (i > 0 && laws[i][j]->text() == laws[0][j]->text()) {
        result.push_back(result[j]);
      } else {
        result.push_back(
            std::min(VirtualValue(*laws[i][j]).reserve(), laws[i][j]->quantile(kHighestReserve)));
      }
    }
  }
  return result;
}

}  // namespace agora::auctions

#include "auctions/limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "auctions/setting.h"
#include "base/error.h"
#include "base/text.h"

namespace agora::auctions {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;

// One for all becomes one each; nobody's is nothing at all.
Limits spread(Limits limits, const std::string& where, int bidders) {
  if (limits.budgets.size() == 1) limits.budgets.assign(bidders, limits.budgets[0]);
  if (!limits.budgets.empty() && limits.budgets.size() != static_cast<size_t>(bidders)) {
    throw user_error("{}: expected 1 or {} budgets, found {}", where, bidders,
                     limits.budgets.size());
  }
  for (const double budget : limits.budgets) {
    if (!(budget > 0)) throw user_error("{}: expected positive budgets, found {}", where, budget);
  }
  const auto none = [](double budget) { return std::isinf(budget); };
  if (std::all_of(limits.budgets.begin(), limits.budgets.end(), none)) limits.budgets.clear();
  return limits;
}

std::string words_of(const Limits& limits) {
  const std::string budgets = budget_text(limits);
  return fmt::format("{} demand{}", demand_text(limits),
                     budgets.empty() ? "" : fmt::format(" and budget {}", budgets));
}

}  // namespace

double budget_of(const Limits& limits, int bidder) {
  return limits.budgets.empty() ? kNone : limits.budgets[bidder];
}

Limits limits_from(const std::string& where, std::string_view demand, std::string_view budgets,
                   int bidders) {
  Limits limits;
  if (demand != "additive" && demand != "unit") {
    throw user_error("{}: expected demand additive or unit, found '{}'", where, printable(demand));
  }
  if (demand == "unit") limits.demand = Demand::kUnit;
  if (!budgets.empty()) {
    const auto numbers = numbers_in(budgets);
    if (!numbers) {
      throw user_error("{}: expected budgets such as 0.5 or 0.5,inf, found '{}'", where,
                       printable(budgets));
    }
    limits.budgets = *numbers;
  }
  return spread(std::move(limits), where, bidders);
}

std::string demand_text(const Limits& limits) {
  return limits.demand == Demand::kUnit ? "unit" : "additive";
}

std::string budget_text(const Limits& limits) {
  const std::vector<double>& all = limits.budgets;
  if (all.empty()) return "";
  if (std::all_of(all.begin(), all.end(), [&](double each) { return each == all[0]; })) {
    return fmt::format("{}", all[0]);
  }
  return fmt::format("{}", fmt::join(all, ","));
}

std::string limits_text(const Limits& limits) {
  const std::string budgets = budget_text(limits);
  return (limits.demand == Demand::kUnit ? "; demand unit" : "") +
         (budgets.empty() ? "" : "; budget " + budgets);
}

Setting limited(const Setting& setting, Limits limits) {
  auto laws = std::make_shared<SettingLaws>(laws_of(setting));
  const std::string old = limits_text(laws->limits);
  laws->text.resize(laws->text.size() - old.size());
  laws->limits = spread(std::move(limits), "budgets", laws->bidders);
  laws->text += limits_text(laws->limits);
  return setting_of(std::move(laws));
}

void check_fits(const Mechanism& mechanism, const Setting& setting) {
  if (!mechanism.accepts(setting.bidders(), setting.items())) {
    throw user_error("{} is for {}x{}, setting \"{}\" is {}x{}", mechanism.name(),
                     mechanism.bidders(), mechanism.items(), setting.text(), setting.bidders(),
                     setting.items());
  }
  const Limits own = mechanism.parameters().limits;
  if (own == setting.limits()) return;
  throw user_error("{} was made for {}, setting \"{}\" has {}", mechanism.name(), words_of(own),
                   setting.text(), words_of(setting.limits()));
}

void check_limits(const Mechanism& mechanism, const Setting& setting, int64_t profiles,
                  const double* allocation, const double* payments) {
  if (setting.limits() == Limits{}) return;
  const int n = setting.bidders(), m = setting.items();
  for (int64_t row = 0; row < profiles * n; ++row) {
    const int bidder = static_cast<int>(row % n);
    double items = 0.0;
    for (int j = 0; j < m; ++j) items += allocation[row * m + j];
    if (setting.unit_demand() && items > 1 + kRounding) {
      throw user_error("{} gives bidder {} {:.6g} items in all, unit demand takes one",
                       mechanism.name(), bidder + 1, items);
    }
    if (payments[row] > setting.budget(bidder) * (1 + kRounding)) {
      throw user_error("{} takes {:.6g} from bidder {}, whose budget is {:.6g}", mechanism.name(),
                       payments[row], bidder + 1, setting.budget(bidder));
    }
  }
}

}  // namespace agora::auctions

// A posted menu: from a file, or one price for every set of items, optimised.
#include "auctions/exact/menu.h"

#include <algorithm>
#include <numeric>

#include "auctions/exact/evolution.h"
#include "auctions/setting.h"
#include "base/csv.h"
#include "base/error.h"

namespace agora::auctions::kind_menu {
namespace {

constexpr int kMostPrices = 31;

std::vector<Choice> read_menu(const std::string& file, int items) {
  CsvReader reader(file);
  std::vector<std::string> names;
  for (int j = 1; j <= items; ++j) names.push_back(fmt::format("i{}", j));
  names.push_back("price");
  reader.allow_only(names);
  const std::vector<size_t> at = reader.require(names);
  std::vector<Choice> choices;
  while (reader.next()) {
    Choice choice;
    for (int j = 0; j < items; ++j) {
      choice.probabilities.push_back(reader.number(at[j]));
      if (choice.probabilities[j] < 0.0 || choice.probabilities[j] > 1.0) {
        throw reader.expected(at[j], "a probability");
      }
    }
    choice.price = reader.number(at[items]);
    if (choice.price < 0.0) throw reader.expected(at[items], "a price of at least 0");
    choices.push_back(std::move(choice));
  }
  if (choices.empty()) throw user_error("{}: expected at least one choice, found none", file);
  return choices;
}

struct Set {
  std::vector<double> items;  // 0 or 1
  int price;                  // its number
};

// Every set of items, or every item of unit demand, which is worth no more in a larger set. One
// price each, or one per size when items are alike.
std::vector<Set> sets_of(const Setting& setting) {
  const int m = setting.items();
  std::vector<Set> sets;
  for (int j = 0; setting.unit_demand() && j < m; ++j) {
    sets.push_back({std::vector<double>(m), setting.item_symmetric() ? 0 : j});
    sets[j].items[j] = 1.0;
  }
  for (int set = 1; !setting.unit_demand() && set < 1 << m; ++set) {
    sets.push_back({{}, setting.item_symmetric() ? __builtin_popcount(set) - 1 : set - 1});
    for (int j = 0; j < m; ++j) sets.back().items.push_back(set >> j & 1);
  }
  return sets;
}

std::vector<Choice> optimised(const Setting& setting, const Design& how) {
  const int m = setting.items();
  const auto told_profiles = how.told.whole<int64_t>(design_profiles().name);
  const std::vector<Set> sets = sets_of(setting);
  double scale = 0.0;
  for (const Law& law : laws_of(setting).rows[0]->marginals()) scale += law->mean() / m;
  const auto choices_for = [&](const std::vector<double>& x) {
    std::vector<Choice> choices;
    for (const Set& set : sets) {
      const double price = std::max(0.0, scale * x[set.price]);
      choices.push_back({set.items, std::min(price, setting.budget(0))});
    }
    return choices;
  };
  const std::vector<double> values = design_values(setting, how.seed, told_profiles);
  const int64_t profiles = static_cast<int64_t>(values.size()) / m;
  const auto revenue = [&](const std::vector<double>& x) {
    const Menu menu(menu_parameters("menu", setting, choices_for(x)));
    double total = 0.0;
    for (double payment : run(menu, values).payments) total += payment;
    return total / static_cast<double>(profiles);
  };
  std::vector<double> start(1 + sets.back().price);
  for (const Set& set : sets) {
    start[set.price] = std::accumulate(set.items.begin(), set.items.end(), 0.0);
  }
  const int budget = 300 * (static_cast<int>(start.size()) + 1);
  return choices_for(
      maximise(revenue, start, {.step = 0.4, .evaluations = budget, .seed = how.seed}));
}

Parameters design(const Setting& setting, const Design& how) {
  const std::string file = how.told.text("menu");
  return menu_parameters("menu", setting,
                         file.empty() ? optimised(setting, how) : read_menu(file, setting.items()));
}

std::string refusal(const Setting& setting) {
  if (setting.bidders() != 1) return "a menu serves one bidder; ama and vvca take more";
  const int m = setting.items();
  if (setting.unit_demand()) {
    return setting.item_symmetric() || m <= kMostPrices ? ""
                                                        : "it prices up to 31 items that differ";
  }
  const bool small = m <= 10 && (setting.item_symmetric() || (1 << m) - 1 <= kMostPrices);
  return small ? "" : "it prices every set of items, up to 5 (10 when alike); bundle takes more";
}

}  // namespace

MechanismKind entry_menu() {
  return {.name = "menu",
          .summary = "posted menu for one bidder: from a file, or one optimised price per set",
          .pays = "the price of what it chooses from a fixed menu",
          .trial_setting = "1x2 uniform(0,1) uniform(0,2)",
          .parameters = {file("menu", "CSV of choices with columns i1,i2,...,price"),
                         design_profiles()},
          .refusal = refusal,
          .takes_unit_demand = [](const Setting&) { return true; },
          .takes_budgets = [](const Setting&) { return true; },
          .design = design,
          .make = [](Parameters p) { return std::make_unique<Menu>(std::move(p)); },
          .effort =
              [](const Setting& setting) {
                return 5.0 * (setting.unit_demand() ? setting.items() : 1 << setting.items());
              }};
}

}  // namespace agora::auctions::kind_menu

// A posted menu: from a file, or one price for every set of items, optimised.
#include "auctions/exact/menu.h"

#include <algorithm>
#include <map>

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

// Which price each of the 2^m - 1 sets has: one per set, or one per size when items are alike.
std::vector<int> price_of_set(const Setting& setting) {
  std::vector<int> price;
  for (int set = 1; set < 1 << setting.items(); ++set) {
    price.push_back(setting.item_symmetric() ? __builtin_popcount(set) - 1 : set - 1);
  }
  return price;
}

std::vector<Choice> optimised(const Setting& setting, const Design& how) {
  const int m = setting.items();
  const auto told_profiles = how.told.whole<int64_t>(design_profiles().name);
  const std::vector<int> price = price_of_set(setting);
  double scale = 0.0;
  for (const Law& law : laws_of(setting).rows[0]->marginals()) scale += law->mean() / m;
  const auto choices_for = [&](const std::vector<double>& x) {
    std::vector<Choice> choices;
    for (int set = 1; set < 1 << m; ++set) {
      Choice choice{std::vector<double>(m), std::max(0.0, scale * x[price[set - 1]])};
      for (int j = 0; j < m; ++j) choice.probabilities[j] = set >> j & 1;
      choices.push_back(std::move(choice));
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
  std::vector<double> start(1 + *std::max_element(price.begin(), price.end()));
  for (int set = 1; set < 1 << m; ++set) start[price[set - 1]] = __builtin_popcount(set);
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
          .design = design,
          .make = [](Parameters p) { return std::make_unique<Menu>(std::move(p)); },
          .effort = [](const Setting& setting) { return 5.0 * (1 << setting.items()); }};
}

}  // namespace agora::auctions::kind_menu

// From a mechanism with regret to a truthful menu.
#include "auctions/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "auctions/audit/audit.h"
#include "auctions/setting.h"
#include "made.h"

namespace agora::auctions {
namespace {

// What a value pays on the menu of all outcomes of Soft at `share` of their prices, from a fine
// grid of bids; the empty choice is on it too.
double best_price(double value, double share, double* utility) {
  double best = 0.0, price = 0.0;
  for (int k = 0; k <= 2000; ++k) {
    const double bid = k / 2000.0, asked = share * Soft::price(bid);
    if (value * Soft::share(bid) - asked <= best) continue;
    best = value * Soft::share(bid) - asked;
    price = asked;
  }
  *utility = best;
  return price;
}

// The law of values, revenue, regret and the menu are computed here by sums over a grid.
TEST(Reduction, KeepsItsPromise) {
  const int values = 2000;
  double revenue = 0.0, regret = 0.0, menu_revenue = 0.0, best = 0.0;
  for (int k = 0; k < values; ++k) {
    const double value = (k + 0.5) / values;
    revenue += Soft::price(value) / values;
    best_price(value, 1.0, &best);
    regret += (best - (value * Soft::share(value) - Soft::price(value))) / values;
  }
  const double epsilon = std::sqrt(regret / revenue);
  for (int k = 0; k < values; ++k) {
    menu_revenue += best_price((k + 0.5) / values, 1 - epsilon, &best) / values;
  }
  const double promised = std::pow(std::sqrt(revenue) - std::sqrt(regret), 2);
  ASSERT_GE(menu_revenue, promised);

  const Setting market = setting("1x1");
  const Reduction found =
      reduce_to_menu(Soft(), market, {.choices = 2000, .profiles = 20000, .seed = 3});
  const double noise = 0.005;  // of 20,000 values up to 1, three standard errors
  EXPECT_NEAR(found.revenue, revenue, noise);
  EXPECT_NEAR(found.regret, regret, noise);
  EXPECT_NEAR(found.epsilon, epsilon, 0.01);
  EXPECT_NEAR(found.bound, promised, noise);
  EXPECT_NEAR(found.menu_revenue, menu_revenue, noise);
  EXPECT_GE(found.menu_revenue, promised - noise);
  EXPECT_LT(found.discretisation, 0.01);
  EXPECT_LE(strong_regret(*found.menu, market, {.regret_profiles = 100}).max, 1e-9);
  EXPECT_LE(evaluate(*found.menu, market, {}).ir_violation, 1e-9);
}

TEST(Reduction, LeavesATruthfulMechanismAsItIs) {
  const Setting market = setting("1x2");
  const auto mechanism = exact("sja", market);
  const Reduction found = reduce_to_menu(*mechanism, market, {.choices = 500, .profiles = 20000});
  EXPECT_EQ(found.choices, 4);  // nothing, either item, both
  EXPECT_NEAR(found.menu_revenue, found.revenue, 1e-9);
}

}  // namespace
}  // namespace agora::auctions

#include "auctions/exact/optimal_lp.h"

#include <agora/auction_audit.h>
#include <gtest/gtest.h>

#include <cmath>

#include "auctions/exact/menu.h"
#include "auctions/exact/straight_jacket.h"
#include "auctions/exact/virtual_value.h"

namespace agora::auctions {
namespace {

// Myerson solves one item exactly, for either kind of truth.
TEST(OptimalLp, FindsMyersonsRevenueForOneItem) {
  for (const char* text :
       {"1x1 discrete(1:0.3,2:0.3,5:0.4)", "2x1 discrete(1:0.5,2:0.2,3:0.3)",
        "2x1 discrete(1:0.5,2:0.5) / discrete(1:0.2,3:0.8)", "3x1 discrete(1:0.6,4:0.4)"}) {
    SCOPED_TRACE(text);
    const Setting market = setting(text);
    std::vector<Law> bidders;
    for (const auto& row : marginal_laws(market)) bidders.push_back(row[0]);
    const double expected = optimal_revenue(bidders);
    const TypeSpace space = type_space(market, 0);
    EXPECT_NEAR(solve_optimal(space, true).revenue, expected, 1e-4);
    EXPECT_NEAR(solve_optimal(space, false).revenue, expected, 1e-4);
  }
}

TEST(OptimalLp, BayesianTruthEarnsAtLeastAsMuch) {
  const TypeSpace space = type_space(setting("2x2 discrete(1:0.5,2:0.5)"), 0);
  const double dominant = solve_optimal(space, true).revenue;
  const double bayesian = solve_optimal(space, false).revenue;
  EXPECT_GE(bayesian, dominant - 1e-9);
  // Selling each item alone: virtual values 0 and 2, so 2 * P(somebody has 2) per item.
  EXPECT_GE(dominant, 3.0 - 1e-9);
}

// Lower corners of ten cells per item: a truthful mechanism of them is one of the continuum with
// the values rounded down, so the value lies below the continuum's optimum.
TEST(OptimalLp, OneBidderTwoItemsStaysBelowTheContinuum) {
  const double revenue = solve_optimal(type_space(setting("1x2"), 10), true).revenue;
  EXPECT_LT(revenue, (12 + 2 * std::sqrt(2.0)) / 27);
  EXPECT_GT(revenue, 0.5);
}

TEST(SlowOptimalLp, FiftyPointsPerItem) {
  EXPECT_NEAR(solve_optimal(type_space(setting("1x2"), 50), true).revenue, 0.5452, 5e-5);
}

TEST(StraightJacket, HasTheKnownPrices) {
  const std::vector<double> two = straight_jacket_prices(2);
  EXPECT_NEAR(two[0], 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(two[1], (4 - std::sqrt(2.0)) / 3, 1e-12);
  EXPECT_NEAR(straight_jacket_prices(1)[0], 0.5, 1e-12);
  EXPECT_NEAR(straight_jacket_prices(3)[2], 1.22571, 1e-5);  // as published
  // The cube, the simplex, and the cube cut by a plane.
  EXPECT_NEAR(symmetric_volume({1, 2, 3}), 1.0, 1e-12);
  EXPECT_NEAR(symmetric_volume({1, 1, 1}), 1.0 / 6.0, 1e-12);
  EXPECT_NEAR(symmetric_volume({1, 2, 2}), 5.0 / 6.0, 1e-12);
  EXPECT_NEAR(symmetric_volume({1, 1.5, 1.5, 1.5}), (std::pow(1.5, 4) - 4 * std::pow(0.5, 4)) / 24,
              1e-12);
}

}  // namespace
}  // namespace agora::auctions

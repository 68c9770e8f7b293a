// How much the order of bidders and items matters, against orders tried here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "auctions/audit/audit.h"
#include "auctions/setting.h"
#include "made.h"

namespace agora::auctions {
namespace {

// Revenue is the sum of weight times bid.
Made weighted(int bidders, int items, std::vector<double> weights) {
  return Made(bidders, items, [=](const double* bids, double*, double* payments) {
    for (size_t k = 0; k < weights.size(); ++k) payments[k / items] += weights[k] * bids[k];
  });
}

std::vector<double> profile_of(const Setting& market, int64_t k) {
  std::vector<double> values(market.bidders() * market.items());
  market.sample(0, kEvaluationStream, k, 1, values.data());
  return values;
}

// The first bidder always gets the item for half its bid: revenue depends on who sits there.
TEST(Symmetry, SeesThatSeatsMatter) {
  const Made mechanism(2, 1, [](const double* bids, double* allocation, double* payments) {
    allocation[0] = 1.0;
    payments[0] = 0.5 * bids[0];
  });
  const Setting market = setting("2x1");
  const SymmetryTest unfair = symmetry_test(mechanism, market, {.symmetry_profiles = 2000});
  EXPECT_NEAR(unfair.range_mean, 1.0 / 6.0, 0.01);       // half of E|v1 - v2|
  EXPECT_NEAR(unfair.exploitability, 100.0 / 3.0, 2.5);  // E min / E v = 2/3
  EXPECT_NEAR(unfair.treatment_mean, 0.25, 0.01);
  const auto fair = exact("itemwise-myerson", setting("3x2"));
  const SymmetryTest none = symmetry_test(*fair, setting("3x2"), {.symmetry_profiles = 100});
  EXPECT_LE(none.range_max, 1e-9);
  EXPECT_LE(none.treatment_max, 1e-9);
  EXPECT_EQ(none.permutations, 12);
}

// One bidder: only the order of items can matter.
TEST(Symmetry, PermutesItems) {
  const Setting market = setting("1x2");
  const SymmetryTest found =
      symmetry_test(weighted(1, 2, {0.5, 0.0}), market, {.symmetry_profiles = 50});
  EXPECT_EQ(found.permutations, 2);
  for (int k = 0; k < 50; ++k) {
    const std::vector<double> values = profile_of(market, k);
    EXPECT_NEAR(found.revenue_range[k], 0.5 * std::abs(values[0] - values[1]), 1e-12) << k;
  }
  EXPECT_EQ(found.exploitability, 0.0);  // bidders cannot choose the order of items
}

TEST(Symmetry, PermutesBidderAndItemsTogether) {
  const std::vector<double> weights{0.1, 0.4, 0.2, 0.9, 0.3, 0.7};
  const Setting market = setting("3x2");
  const SymmetryTest found =
      symmetry_test(weighted(3, 2, weights), market, {.symmetry_profiles = 20});
  for (int k = 0; k < 20; ++k) {
    const std::vector<double> values = profile_of(market, k);
    std::vector<double> revenues;
    std::vector<int> seats{0, 1, 2};
    do {
      for (int swapped = 0; swapped < 2; ++swapped) {
        double revenue = 0.0;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 2; ++j) {
            revenue += weights[2 * i + j] * values[2 * seats[i] + (j + swapped) % 2];
          }
        }
        revenues.push_back(revenue);
      }
    } while (std::next_permutation(seats.begin(), seats.end()));
    const auto [low, high] = std::minmax_element(revenues.begin(), revenues.end());
    EXPECT_NEAR(found.revenue_range[k], *high - *low, 1e-12) << k;
  }
}

// More orders than are tried: of 1,000 drawn ones some put each item first.
TEST(Symmetry, DrawsOrdersOfManyItems) {
  const Setting market = setting("1x8");
  const SymmetryTest found =
      symmetry_test(weighted(1, 8, {1, 0, 0, 0, 0, 0, 0, 0}), market, {.symmetry_profiles = 20});
  EXPECT_FALSE(found.all_permutations);
  for (int k = 0; k < 20; ++k) {
    const std::vector<double> values = profile_of(market, k);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    EXPECT_NEAR(found.revenue_range[k], *high - *low, 1e-12) << k;
  }
}

// With weights that rise from seat to seat the lowest revenue has the highest bid in the first
// seat, and so on. Beyond six bidders swaps have to find that order.
TEST(Symmetry, FindsTheWorstOrderOfManyBidders) {
  for (const int n : {4, 9}) {
    std::vector<double> weights(n);
    for (int i = 0; i < n; ++i) weights[i] = 0.1 * (i + 1);
    const Setting market = setting(std::to_string(n) + "x1");
    const SymmetryTest found =
        symmetry_test(weighted(n, 1, weights), market, {.symmetry_profiles = 40});
    double honest = 0.0, worst = 0.0;
    for (int k = 0; k < 40; ++k) {
      std::vector<double> values = profile_of(market, k);
      honest += std::inner_product(values.begin(), values.end(), weights.begin(), 0.0);
      std::sort(values.rbegin(), values.rend());
      worst += std::inner_product(values.begin(), values.end(), weights.begin(), 0.0);
    }
    EXPECT_NEAR(found.exploitability, 100 * (honest - worst) / honest, 1e-9) << n;
    EXPECT_EQ(found.exact_exploitability, n == 4);
  }
}

}  // namespace
}  // namespace agora::auctions

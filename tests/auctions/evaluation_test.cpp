// What mechanisms earn when everybody bids the truth, against sums made here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "auctions/audit/audit.h"
#include "auctions/setting.h"
#include "made.h"
#include "support/program.h"

namespace agora::auctions {
namespace {

// Bidder i gets half of every item for a third of its bid.
Made thirds(int bidders, int items) {
  return Made(bidders, items, [=](const double* bids, double* allocation, double* payments) {
    for (int k = 0; k < bidders * items; ++k) {
      allocation[k] = 0.5;
      payments[k / items] += bids[k] / 3;
    }
  });
}

TEST(Evaluation, MeanAndStandardErrorAreThoseOfTheProfiles) {
  const Setting market = setting("2x2 uniform(4,16) uniform(4,7)");
  const int64_t profiles = 3000, first = 500;
  const Evaluation found =
      evaluate(thirds(2, 2), market, {.profiles = profiles, .first = first, .seed = 9});
  std::vector<double> values(profiles * 4), revenues(profiles, 0.0);
  market.sample(9, kEvaluationStream, first, profiles, values.data());
  double mean = 0.0, squares = 0.0, welfare = 0.0;
  for (int64_t k = 0; k < profiles; ++k) {
    for (int e = 0; e < 4; ++e) revenues[k] += values[4 * k + e] / 3;
    mean += revenues[k] / profiles;
    for (int e = 0; e < 4; ++e) welfare += 0.5 * values[4 * k + e] / profiles;
  }
  for (double revenue : revenues) squares += (revenue - mean) * (revenue - mean);
  const double deviation = std::sqrt(squares / (profiles - 1));
  EXPECT_NEAR(found.revenue, mean, 1e-9);
  EXPECT_NEAR(found.revenue_error, deviation / std::sqrt(profiles), 1e-9);
  EXPECT_NEAR(deviation, std::sqrt((144.0 + 9.0) / 12 * 2) / 3, 0.05);  // of the law
  EXPECT_NEAR(found.welfare, welfare, 1e-9);
}

// Every tenth row is for evaluation: those alone hold values of 50 and more.
TEST(Evaluation, UsesTheHeldOutRowsOfATable) {
  const Scratch scratch;
  std::string text = "b1i1,b1i2\n";
  double expected = 0.0;
  for (int row = 1; row <= 200; ++row) {
    const double one = row % 10 == 0 ? 50 + row : row % 7, two = row % 10 == 0 ? 60 : row % 3;
    text += fmt::format("{},{}\n", one, two);
    if (row % 10 == 0) expected += (one + two) / 3 / 20;
  }
  testing::put(scratch / "values.csv", text);
  const Setting market = setting_from_values((scratch / "values.csv").string());
  const Audit found = audit(thirds(1, 2), market, {.profiles = 1000, .regret_profiles = 1000});
  EXPECT_EQ(found.truth.profiles, 20);
  EXPECT_NEAR(found.truth.revenue, expected, 1e-9);
  // The best lie is to bid nothing, which saves all that is paid.
  EXPECT_NEAR(found.strong->mean, expected, 1e-9);
  EXPECT_EQ(found.strong->gains.size(), 20);
  EXPECT_EQ(found.strong->worst_values[0], 250);
  EXPECT_EQ(found.symmetry->revenue_range.size(), 20);
}

}  // namespace
}  // namespace agora::auctions

// Both sides of every rule, and what a finding makes of several seeds.
#include "reproduce/experiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace agora::reproduce {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool passes(const Rule& rule, double ours) { return finding("it", "", {ours}, rule).pass; }

TEST(Rules, HoldOnOneSideOnly) {
  EXPECT_TRUE(passes(within(2, 0.25), 2.25));
  EXPECT_TRUE(passes(within(2, 0.25), 1.75));
  EXPECT_FALSE(passes(within(2, 0.25), 2.2501));
  EXPECT_FALSE(passes(within(2, 0.25), 1.7499));
  EXPECT_TRUE(passes(between(-1, 3), -1));
  EXPECT_TRUE(passes(between(-1, 3), 3));
  EXPECT_FALSE(passes(between(-1, 3), -1.0001));
  EXPECT_FALSE(passes(between(-1, 3), 3.0001));
  EXPECT_TRUE(passes(at_least(0.5), 0.5));
  EXPECT_FALSE(passes(at_least(0.5), 0.4999));
  EXPECT_TRUE(passes(at_most(0.5), 0.5));
  EXPECT_FALSE(passes(at_most(0.5), 0.5001));
}

TEST(Rules, HoldForNothingThatIsNotFinite) {
  for (const double odd : {std::nan(""), kInfinity, -kInfinity}) {
    EXPECT_FALSE(passes(within(0, kInfinity), odd)) << odd;
    EXPECT_FALSE(passes(between(-kInfinity, kInfinity), odd)) << odd;
    EXPECT_FALSE(passes(at_least(-kInfinity), odd)) << odd;
    EXPECT_FALSE(passes(at_most(kInfinity), odd)) << odd;
    EXPECT_FALSE(finding("it", "", {1, odd}, at_least(-kInfinity)).pass) << odd;
  }
}

TEST(Rules, SayWhatTheyAsk) {
  EXPECT_EQ(within(0.5, 0.01).words, "0.5 ± 0.01");
  EXPECT_EQ(between(0.25, 3).words, "0.25 to 3");
  EXPECT_EQ(at_least(7).words, "≥ 7");
  EXPECT_EQ(at_most(1e-9).words, "≤ 1e-09");
}

TEST(Findings, AreMeansOverTheSeeds) {
  const Finding one = finding("revenue", "0.5", {4}, within(4, 0));
  EXPECT_EQ(one.ours, 4);
  EXPECT_FALSE(one.half_width);
  EXPECT_EQ(one.published, "0.5");
  const Finding three = finding("revenue", "0.5", {1, 2, 6}, within(3, 1e-12));
  EXPECT_DOUBLE_EQ(three.ours, 3);
  EXPECT_TRUE(three.pass);
  // t(0.975; 2) = 4.302653, s = sqrt(7)
  EXPECT_NEAR(three.half_width.value(), 4.302653 * std::sqrt(7.0 / 3), 1e-5);
  EXPECT_FALSE(finding("revenue", "0.5", {1, 2, 6}, within(1, 0.5)).pass);  // not the first alone
}

}  // namespace
}  // namespace agora::reproduce

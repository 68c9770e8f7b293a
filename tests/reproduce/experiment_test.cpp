// Both sides of every rule, and what a finding makes of several seeds.
#include "reproduce/experiment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace agora::reproduce {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool passes(const Rule& rule, double ours) {
  return finding("it", "", {ours}, rule).verdict == Verdict::kReproduced;
}

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
    EXPECT_EQ(finding("it", "", {1, odd}, at_least(-kInfinity)).verdict, Verdict::kMissed) << odd;
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
  const Finding three = finding("revenue", "0.5", {1, 2, 6}, within(3, 3));
  EXPECT_DOUBLE_EQ(three.ours, 3);
  EXPECT_EQ(three.seeds, (std::vector<double>{1, 2, 6}));
  // t(0.975; 2) = 4.302653, s = sqrt(7)
  EXPECT_NEAR(three.half_width.value(), 4.302653 * std::sqrt(7.0 / 3), 1e-5);
}

TEST(Findings, HoldForEverySeed) {
  const auto verdict = [](const Rule& rule) {
    return finding("revenue", "0.5", {1, 2, 6}, rule).verdict;
  };
  EXPECT_EQ(verdict(between(1, 6)), Verdict::kReproduced);
  EXPECT_EQ(verdict(at_most(5.9)), Verdict::kMissed);
  EXPECT_EQ(verdict(at_least(1.1)), Verdict::kMissed);
  EXPECT_EQ(verdict(within(3, 1)), Verdict::kMissed);    // the mean alone
  EXPECT_EQ(verdict(within(1, 0.5)), Verdict::kMissed);  // the first alone
}

TEST(Findings, AreLooserAtQuickScaleOnly) {
  const auto at = [](Scale scale, const std::vector<double>& ours) {
    return finding(scale, "revenue", "0.5", ours, at_least(0.5), at_least(0.4));
  };
  EXPECT_EQ(at(Scale::kQuick, {0.5, 0.6}).verdict, Verdict::kReproduced);
  EXPECT_EQ(at(Scale::kQuick, {0.4, 0.6}).verdict, Verdict::kLooser);
  EXPECT_EQ(at(Scale::kQuick, {0.39, 0.6}).verdict, Verdict::kMissed);
  EXPECT_EQ(at(Scale::kQuick, {kInfinity, 0.6}).verdict, Verdict::kMissed);
  EXPECT_EQ(at(Scale::kQuick, {0.4}).rule, "≥ 0.5; looser: ≥ 0.4");
  EXPECT_EQ(at(Scale::kFull, {0.5, 0.6}).verdict, Verdict::kReproduced);
  EXPECT_EQ(at(Scale::kFull, {0.4, 0.6}).verdict, Verdict::kMissed);
  EXPECT_EQ(at(Scale::kFull, {0.4}).rule, "≥ 0.5");
}

TEST(Findings, ThatAreNotJudgedSayWhy) {
  const Finding shown = not_judged("revenue", "0.5", {1, 3}, "too short");
  EXPECT_EQ(shown.verdict, Verdict::kNotJudged);
  EXPECT_EQ(shown.ours, 2);
  EXPECT_EQ(shown.rule, "not judged: too short");
  EXPECT_TRUE(std::isnan(not_judged("revenue", "0.5", {}, "not run").ours));
}

}  // namespace
}  // namespace agora::reproduce

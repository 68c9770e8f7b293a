#include "auctions/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "auctions/special_functions.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

std::vector<Law> continuous_laws() {
  return {uniform(0.0, 1.0),
          uniform(4.0, 16.0),
          exponential(0.3),
          power(5.0),
          lognormal(-0.5, 0.8),
          truncated_normal(0.5, 0.2, 0.0, 1.0),
          truncated_normal(-2.0, 0.5, 0.0, 3.0),
          beta(2.0, 3.0),
          beta(1.0, 2.0, 1.0, 3.0),
          beta(0.5, 0.5),
          drifting(0.5),
          mixture({{0.75, uniform(0.0, 1.0)}, {0.25, uniform(2.0, 3.0)}}),
          mixture({{2.0, exponential(1.0)}, {1.0, uniform(0.0, 4.0)}}),
          tabulated({0.0, 1.0, 3.0}, {0.0, 0.4, 1.0}, "table")};
}

// The density is the derivative of the cdf, the quantile its inverse, the mean its integral.
TEST(Distribution, PartsOfALawAgree) {
  for (const Law& law : continuous_laws()) {
    SCOPED_TRACE(law->text());
    double mean = 0.0;
    const int cells = 20000;
    for (int k = 0; k < cells; ++k) mean += law->quantile((k + 0.5) / cells) / cells;
    EXPECT_NEAR(mean, law->mean(), 2e-3 * (1.0 + law->mean()));
    for (double q : {0.05, 0.3, 0.5, 0.77, 0.95, 0.999}) {
      const double x = law->quantile(q);
      EXPECT_NEAR(law->cdf(x), q, 1e-10);
      const auto [low, high] = law->support();
      const double h = 1e-4 * std::min({x - low, high - x, 1.0});
      EXPECT_NEAR((law->cdf(x + h) - law->cdf(x - h)) / (2 * h), law->density(x),
                  1e-4 * (1.0 + law->density(x)));
    }
    EXPECT_EQ(law->cdf(law->support().low), 0.0);
  }
}

TEST(Distribution, DrawsFollowTheCdf) {  // Kolmogorov-Smirnov at the level 1e-6
  std::vector<Law> laws = continuous_laws();
  laws.push_back(discrete({{1.0, 0.25}, {2.0, 0.5}, {5.0, 0.25}}));
  for (const Law& law : laws) {
    SCOPED_TRACE(law->text());
    const int n = 20000;
    std::vector<double> draws(n);
    Rng rng(3, 1);
    for (double& draw : draws) draw = law->sample(rng);
    std::sort(draws.begin(), draws.end());
    double distance = 0.0;
    for (int k = 0; k < n; ++k) {
      if (k + 1 < n && draws[k + 1] == draws[k]) continue;
      distance = std::max(distance, std::abs(law->cdf(draws[k]) - (k + 1.0) / n));
    }
    EXPECT_LT(distance, std::sqrt(-0.5 * std::log(5e-7) / n));
  }
}

TEST(Distribution, DiscreteLawsKeepTheirAtoms) {
  const Law law = discrete({{2.0, 0.5}, {1.0, 0.25}, {2.0, 0.25}});
  ASSERT_EQ(law->atoms().size(), 2u);
  EXPECT_EQ(law->atoms()[1].value, 2.0);
  EXPECT_DOUBLE_EQ(law->atoms()[1].probability, 0.75);
  EXPECT_DOUBLE_EQ(survival(*law, 2.0), 0.75);
  EXPECT_DOUBLE_EQ(survival(*law, 1.5), 0.75);
  EXPECT_EQ(law->quantile(0.25), 1.0);
  EXPECT_EQ(law->quantile(0.2501), 2.0);
}

TEST(Distribution, SpecialFunctionsHaveTheirKnownValues) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-12);
  EXPECT_NEAR(incomplete_beta(2.0, 3.0, 0.4), 0.5248, 1e-14);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.25), 1.0 / 3.0, 1e-13);
  // Sums of binomial probabilities in 60 digits.
  EXPECT_NEAR(incomplete_beta(10'000, 10'000, 0.505), 0.92135299111833568, 1e-10);
  EXPECT_NEAR(incomplete_beta(20, 9'999, 0.0015), 0.12612435335412771, 1e-10);
  EXPECT_NEAR(incomplete_beta(20, 9'999, 0.003), 0.97874978162758821, 1e-10);
  // Where 1 - x is rounded, either side of the mean may seem to be above it.
  EXPECT_TRUE(std::isfinite(incomplete_beta(20, 2.8222222222222282e16, 8e-16)));
}

TEST(Distribution, RefusesBadParameters) {
  EXPECT_THROW(uniform(1.0, 1.0), UserError);
  EXPECT_THROW(uniform(-1.0, 1.0), UserError);
  EXPECT_THROW(exponential(0.0), UserError);
  EXPECT_THROW(beta(20, 2.8e16), UserError);
  EXPECT_THROW(beta(10'001, 1), UserError);
  EXPECT_THROW(discrete({{1.0, 0.5}}), UserError);
  EXPECT_THROW(discrete({{-1.0, 1.0}}), UserError);
  EXPECT_THROW(truncated_normal(0.0, 0.01, 50.0, 51.0), UserError);
  EXPECT_THROW(mixture({{0.5, uniform(0, 1)}, {0.5, discrete({{1.0, 1.0}})}}), UserError);
}

}  // namespace
}  // namespace agora::auctions

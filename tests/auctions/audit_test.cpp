#include "auctions/audit/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "auctions/audit/search.h"
#include "auctions/mechanism.h"
#include "auctions/reduction.h"
#include "auctions/setting.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

// A mechanism given by a function of one profile.
class Made : public FixedMechanism {
 public:
  using Rule = std::function<void(const double* bids, double* allocation, double* payments)>;
  Made(int bidders, int items, Rule rule)
      : FixedMechanism([&] {
          Parameters parameters;
          parameters.mechanism = "made";
          parameters.bidders = bidders;
          parameters.items = items;
          return parameters;
        }()),
        rule_(std::move(rule)) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    rule_(bids, allocation, payments);
  }

 private:
  Rule rule_;
};

Made first_price() {
  return Made(2, 1, [](const double* bids, double* allocation, double* payments) {
    const int winner = bids[1] > bids[0];
    allocation[winner] = 1.0;
    payments[winner] = bids[winner];
  });
}

// The winner of a first-price auction could have bid just above the other: its regret is v1 - v2,
// the mean over both bidders E[v1 - v2] / 2 = 1/6 for U[0,1].
TEST(Audit, FindsTheRegretOfAFirstPriceAuction) {
  const Made mechanism = first_price();
  const Setting market = setting("2x1");
  const AuditOptions options{.profiles = 2000, .regret_profiles = 500};
  const RegretTest strong = strong_regret(mechanism, market, options);
  const RegretTest thesis = thesis_regret(mechanism, market, options);
  double expected = 0.0;
  for (int k = 0; k < 500; ++k) {
    double values[2];
    market.sample(0, kEvaluationStream, k, 1, values);
    expected += std::abs(values[0] - values[1]) / 1000;
  }
  EXPECT_NEAR(expected, 1.0 / 6.0, 0.03);
  EXPECT_NEAR(strong.mean, expected, 1e-4);
  EXPECT_LE(strong.mean, expected + 1e-12);
  EXPECT_LE(thesis.mean, expected + 1e-12);
  EXPECT_GT(thesis.mean, 0.9 * expected);
  EXPECT_GE(strong.max, strong.p99);
  const double* truth = strong.worst_values.data() + strong.worst_bidder;
  EXPECT_LT(strong.worst_bid[0], *truth);
}

// Price 1/2, but whoever bids within [.62, .64] pays .1 less: everybody above 1/2 gains .1.
TEST(Audit, FindsALieInASmallRegion) {
  const Made mechanism(1, 1, [](const double* bids, double* allocation, double* payments) {
    if (bids[0] < 0.5) return;
    allocation[0] = 1.0;
    payments[0] = bids[0] > 0.62 && bids[0] < 0.64 ? 0.4 : 0.5;
  });
  const Audit found = audit(mechanism, setting("1x1"), {.profiles = 2000, .regret_profiles = 500});
  EXPECT_NEAR(found.strong->max, 0.1, 1e-9);
  // Values of .4 to .62 and .64 to 1 gain, those below 1/2 up to .1.
  const double expected = 0.1 * (0.12 + 0.36) + 0.5 * 0.1 * 0.1;
  EXPECT_NEAR(found.strong->mean, expected, 0.01);
  ASSERT_TRUE(found.grid.has_value());
  EXPECT_NEAR(found.grid->largest_gain, 0.1, 1e-9);
  EXPECT_FALSE(found.grid->upper.has_value());  // payments fall with bids: no argument holds
}

TEST(Audit, FindsNothingInTruthfulMechanisms) {
  for (const auto& [name, text] :
       {std::pair{"sja", "1x2"}, {"itemwise-myerson", "2x2"}, {"bundle", "2x2"}, {"vcg", "3x2"}}) {
    const Setting market = setting(text);
    const auto mechanism = exact(name, market);
    const AuditOptions options{.regret_profiles = 150};
    EXPECT_LE(strong_regret(*mechanism, market, options).max, 1e-9) << name;
    EXPECT_LE(thesis_regret(*mechanism, market, options).max, 1e-9) << name;
  }
}

TEST(Audit, IsTheSameForAnyNumberOfThreads) {
  const Made mechanism = first_price();
  const Setting market = setting("2x1");
  set_default_threads(1);
  const Audit one = audit(mechanism, market, {.profiles = 5000, .regret_profiles = 50});
  set_default_threads(3);
  const Audit three = audit(mechanism, market, {.profiles = 5000, .regret_profiles = 50});
  EXPECT_EQ(one.truth.revenue, three.truth.revenue);
  EXPECT_EQ(one.truth.revenue_error, three.truth.revenue_error);
  EXPECT_EQ(one.thesis->mean, three.thesis->mean);
  EXPECT_EQ(one.strong->mean, three.strong->mean);
  EXPECT_EQ(one.strong->worst_bid, three.strong->worst_bid);
  EXPECT_EQ(one.symmetry->revenue_range, three.symmetry->revenue_range);
}

// A smooth mechanism with gradients: the share and price of a soft threshold.
class Soft : public Made {
 public:
  Soft()
      : Made(1, 1, [](const double* bids, double* allocation, double* payments) {
          allocation[0] = share(bids[0]);
          payments[0] = 0.5 * share(bids[0]) * bids[0];
        }) {}
  bool has_gradients() const override { return true; }
  void utility_gradient(int64_t profiles, int, int, int, const double* values, const double* bids,
                        double* utility, double* gradient) const override {
    for (int64_t k = 0; k < profiles; ++k) {
      const double g = share(bids[k]), slope = 8 * g * (1 - g);
      utility[k] = g * (values[k] - 0.5 * bids[k]);
      gradient[k] = slope * (values[k] - 0.5 * bids[k]) - 0.5 * g;
    }
  }

 private:
  static double share(double bid) { return 1 / (1 + std::exp(-8 * (bid - 0.5))); }
};

TEST(Audit, ClimbsGradientsToTheExhaustiveAnswer) {
  const Soft mechanism;
  const Setting market = setting("1x1");
  const AuditOptions options{.regret_profiles = 100};
  double expected = 0.0;
  for (int k = 0; k < 100; ++k) {
    double value, best = -1.0, bid = 0.0, allocation, payment;
    market.sample(0, kEvaluationStream, k, 1, &value);
    for (int b = 0; b <= 20000; ++b) {
      bid = b / 20000.0;
      mechanism.run(1, 1, 1, &bid, &allocation, &payment);
      best = std::max(best, allocation * value - payment);
    }
    mechanism.run(1, 1, 1, &value, &allocation, &payment);
    expected += (best - (allocation * value - payment)) / 100;
  }
  EXPECT_NEAR(strong_regret(mechanism, market, options).mean, expected, 0.01 * expected);
  EXPECT_NEAR(thesis_regret(mechanism, market, options).mean, expected, 0.05 * expected);
}

// The first bidder always gets the item for half its bid: revenue depends on who sits there.
TEST(Audit, SeesThatSeatsMatter) {
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

TEST(Audit, GridBoundsARisingMechanism) {
  const Setting market = setting("1x1");
  const GridBound bound = grid_bound(Soft(), market);
  const RegretTest found = strong_regret(Soft(), market, {.regret_profiles = 500});
  ASSERT_TRUE(bound.upper.has_value());
  EXPECT_GE(bound.largest_gain, found.max - 1e-4);
  EXPECT_LE(bound.largest_gain, *bound.upper);
  EXPECT_LE(*bound.upper, bound.largest_gain + 0.005);
}

// From a mechanism with regret: the menu is truthful and keeps what the appendix promises.
TEST(Reduction, KeepsItsPromise) {
  const Soft mechanism;
  const Setting market = setting("1x1");
  const Reduction found =
      reduce_to_menu(mechanism, market, {.choices = 2000, .profiles = 20000, .seed = 3});
  EXPECT_GT(found.regret, 0.01);
  EXPECT_GE(found.menu_revenue,
            found.bound - found.discretisation - 1e-12);  // holds profile by profile
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

TEST(PStar, UsesTheTotalRegret) {
  EXPECT_NEAR(p_star(0.555, 0.00055), 0.521, 0.0005);      // the thesis's table, 1x2
  EXPECT_NEAR(p_star(0.879, 2 * 0.00058), 0.816, 0.0005);  // 2x2
  EXPECT_NEAR(p_star(5.562, 3 * 0.00193), 5.209, 0.001);   // 3x10
  EXPECT_EQ(p_star(0.1, 0.2), 0.0);
}

}  // namespace
}  // namespace agora::auctions

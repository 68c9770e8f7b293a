// Prices and charges against sums done by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "auctions/mechanism.h"
#include "auctions/reduction.h"
#include "auctions/run_bids.h"
#include "auctions/setting.h"
#include "support/program.h"

namespace agora::auctions {
namespace {

class ByHand : public FixedMechanism {
 public:
  using Rule = std::function<void(const double*, double*, double*)>;
  ByHand(const Setting& setting, Rule rule)
      : FixedMechanism(parameters_for("by-hand", setting)), rule_(std::move(rule)) {}

 protected:
  void run_profile(const double* bids, double* allocation, double* payments) const override {
    rule_(bids, allocation, payments);
  }

 private:
  Rule rule_;
};

// U[0,1] pays .3 from .5 and .4 from .75 on: P = .175. At the menu's prices .3 and .4 values above
// .75 gain .1 and those in [.3, .5] gain v - .3: R = .025 + .02.
TEST(Reduction, TakesTheRootOfRegretOverRevenue) {
  const Setting market = setting("1x1");
  const ByHand mechanism(market, [](const double* bids, double* allocation, double* payments) {
    allocation[0] = bids[0] >= 0.5 ? 1.0 : 0.0;
    payments[0] = bids[0] >= 0.75 ? 0.4 : bids[0] >= 0.5 ? 0.3 : 0.0;
  });
  const Reduction reduced =
      reduce_to_menu(mechanism, market, {.choices = 200, .profiles = 100'000, .seed = 3});
  const double epsilon = std::sqrt(0.045 / 0.175), price = (1 - epsilon) * 0.3;
  EXPECT_NEAR(reduced.revenue, 0.175, 0.003);
  EXPECT_NEAR(reduced.regret, 0.045, 0.002);
  EXPECT_NEAR(reduced.epsilon, epsilon, 0.01);
  EXPECT_NEAR(reduced.bound, std::pow(std::sqrt(0.175) - std::sqrt(0.045), 2), 0.003);
  EXPECT_NEAR(reduced.menu_revenue, price * (1 - price), 0.003);
  EXPECT_EQ(reduced.choices, 2);  // of two prices for the same nobody takes the dearer
  EXPECT_NEAR(run(*reduced.menu, {1.0}).payments[0], price, 0.003);
}

// Half of each of two items, worth 1 and 3, for a payment of 1: whoever draws only the second pays
// in proportion to what it is worth, 3 / 2.
TEST(RunBids, ChargesADrawnOutcomeByItsValue) {
  const Scratch scratch;
  const Setting market = setting("1x2 uniform(0,5)");
  const ByHand mechanism(market, [](const double*, double* allocation, double* payments) {
    allocation[0] = allocation[1] = 0.5;
    payments[0] = 1.0;
  });
  std::string bids = "b1i1,b1i2\n";
  for (int k = 0; k < 200; ++k) bids += "1,3\n";
  testing::put(scratch / "bids.csv", bids);
  const std::string out = (scratch / "o.csv").string();
  run_bids(mechanism, bids_from_file((scratch / "bids.csv").string(), mechanism),
           {.out = out, .wide = true, .draw = 7, .domain = {}});
  std::istringstream lines(testing::contents(out));
  std::string line;
  std::getline(lines, line);
  std::map<std::string, int> endings;
  while (std::getline(lines, line)) {
    const size_t at = line.find(",0.5,0.5,1,");
    ASSERT_NE(at, std::string::npos) << line;
    ++endings[line.substr(at + 11)];  // won_b1i1, won_b1i2, charged1
  }
  EXPECT_EQ(endings.size(), 4u);
  for (const char* ending : {"0,0,0", "1,0,0.5", "0,1,1.5", "1,1,2"}) {
    EXPECT_NEAR(endings[ending], 50, 30) << ending;
  }
}

// p(b) = b g(b) - integral of g up to b, where g is what bids from 0 to b are given: the price
// follows from the allocation alone. The first law is ironed between 2 and 5 at a positive level,
// so that two bidders tie there; the second is ironed where nothing is sold.
TEST(Myerson, PricesFollowFromTheAllocationAtTies) {
  int shared = 0;
  for (const char* text :
       {"2x1 mix(0.75 uniform(2,3), 0.25 uniform(5,6))",
        "2x1 mix(0.75 uniform(0,1), 0.25 uniform(2,3))", "2x1 discrete(3:0.5,4:0.1,5:0.4)"}) {
    const auto mechanism = exact("myerson", setting(text));
    bool won = false;
    for (const double other : {0.3, 0.8, 2.0, 2.5, 3.0, 4.0, 5.0, 5.5}) {
      constexpr int kSteps = 6000;
      constexpr double kWidth = 6.0 / kSteps;
      double area = 0.0;
      for (int k = 0; k < kSteps; ++k) {
        area += run(*mechanism, {(k + 0.5) * kWidth, other}).allocation[0] * kWidth;
        if (k % 97 != 96) continue;
        const double bid = (k + 1) * kWidth;
        const Outcome outcome = run(*mechanism, {bid, other});
        const double share = outcome.allocation[0];
        EXPECT_NEAR(outcome.payments[0], bid * share - area, 3 * kWidth)
            << text << ": " << bid << " against " << other;
        shared += share == 0.5;
        won = won || share == 1.0;
      }
    }
    EXPECT_TRUE(won) << text;
  }
  EXPECT_GT(shared, 20);
}

}  // namespace
}  // namespace agora::auctions

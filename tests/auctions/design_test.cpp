// Which mechanism earns most: the comparison, its bounds, and tables of past values.
#include "auctions/design.h"

#include <agora/auction_audit.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "auctions/bounds.h"
#include "auctions/comparison.h"
#include "auctions/exact/reserve.h"
#include "auctions/setting.h"
#include "base/rng.h"
#include "support/scratch.h"

namespace agora::auctions {
namespace {

// 2x3 past values; bidders share a factor of every profile unless `factor` is 0.
ValueTable past_values(int profiles, double factor, uint64_t seed) {
  ValueTable table{.bidders = 2, .items = 3, .design = {}, .held_out = {}};
  Rng rng(seed);
  for (int k = 0; k < profiles; ++k) {
    const double common = factor * rng.normal();
    for (int cell = 0; cell < 6; ++cell) {
      auto& part = k % 10 == 9 ? table.held_out : table.design;
      part.push_back(std::exp(3.0 + common + 0.4 * rng.normal()));
    }
  }
  return table;
}

TEST(Comparison, IsThatOfEveryProfile) {
  const Setting market = setting("2x2 uniform(0,1)");
  const auto vcg = exact("vcg", market), bundle = exact("bundle", market);
  constexpr int kProfiles = 3000;
  Comparison comparison(2);
  comparison.measure({vcg.get(), bundle.get()}, market, kProfiles, 5);
  std::vector<double> values(kProfiles * 4);
  market.sample_held_out(5, kEvaluationStream, 0, kProfiles, values.data());
  const Outcome by_vcg = run(*vcg, values), by_bundle = run(*bundle, values);
  double sum = 0.0, squares = 0.0;
  for (int k = 0; k < kProfiles; ++k) {
    const double less = by_bundle.payments[2 * k] + by_bundle.payments[2 * k + 1] -
                        by_vcg.payments[2 * k] - by_vcg.payments[2 * k + 1];
    sum += less / kProfiles;
    squares += less * less / kProfiles;
  }
  EXPECT_EQ(comparison.best(), 1);
  Contender found;
  comparison.fill(0, found);
  EXPECT_NEAR(found.behind, sum, 1e-12);
  EXPECT_NEAR(found.behind_error, std::sqrt((squares - sum * sum) / (kProfiles - 1)), 1e-12);
  const Evaluation alone = evaluate(*vcg, market, {.profiles = kProfiles, .seed = 5});
  EXPECT_NEAR(found.revenue, alone.revenue, 1e-12);
  EXPECT_NEAR(found.revenue_error, alone.revenue_error, 1e-12);
  EXPECT_NEAR(found.welfare, alone.welfare, 1e-12);
  EXPECT_NEAR(found.sale_rate, alone.sale_rate, 1e-12);
}

// One item: Myerson's revenue, (2x - 1) 3 x^2 from 1/2 to 1. Two items and one bidder: not below
// the optimum, and not the whole worth.
TEST(Comparison, BoundsWhatAnybodyEarns) {
  const auto bound = [](const char* text) {
    const Setting market = setting(text);
    const auto vcg = exact("vcg", market);
    Comparison comparison(1);
    comparison.measure({vcg.get()}, market, 200'000, 1);
    return comparison.dual_bound();
  };
  EXPECT_NEAR(bound("3x1 uniform(0,1)"), 0.53125, 0.003);
  EXPECT_GT(bound("1x2 uniform(0,1)"), 0.549201);
  EXPECT_LT(bound("1x2 uniform(0,1)"), 0.95);
  EXPECT_TRUE(std::isinf(bound("1x2 copula(0.5) uniform(0,1)")));
}

TEST(BestDesign, FindsTheOptimumOfOneBidder) {
  const Setting market = setting("1x2 uniform(0,1)");
  const DesignResult result =
      best_design(market, {.minutes = 0.03, .profiles = 100'000, .seed = 1});
  ASSERT_FALSE(result.kinds.empty());
  EXPECT_EQ(result.best->name(), result.kinds[0].mechanism);
  bool straight_jacket = false;
  for (const Contender& each : result.kinds) {
    EXPECT_TRUE(each.truthful) << each.mechanism;
    EXPECT_GE(each.behind, 0) << each.mechanism;
    EXPECT_LE(each.revenue, 0.549201 + 4 * each.revenue_error) << each.mechanism;
    if (each.mechanism != "sja") continue;
    straight_jacket = true;
    EXPECT_NEAR(each.revenue, 0.549201, 4 * each.revenue_error);
    EXPECT_LE(each.behind, 4 * each.behind_error);
  }
  EXPECT_TRUE(straight_jacket);
  EXPECT_GT(result.upper_bound, 0.549201);
}

// Two who can pay .4: alone each pays that three times in five; together no more than min(highest,
// .4).
TEST(Bounds, AreThoseOfClosedForms) {
  const auto bounds_of = [](const char* text, bool programs) {
    const Setting market = setting(text);
    const auto bundle = exact("bundle", market);
    Comparison comparison(1);
    comparison.measure({bundle.get()}, market, 20'000, 1);
    std::map<std::string, double> bounds;
    for (const Bound& each : revenue_bounds(market, comparison, programs)) {
      bounds[each.name] = each.revenue;
    }
    return bounds;
  };
  const auto poor = bounds_of("2x1; budget 0.4", true);
  EXPECT_EQ(poor.size(), 4u);
  EXPECT_NEAR(poor.at("alone"), 2 * 0.4 * 0.6, 1e-3);
  EXPECT_NEAR(poor.at("welfare"), 0.4 * (1 - 0.16) + 2.0 / 3 * 0.064, 0.003);
  EXPECT_NEAR(poor.at("program"), poor.at("welfare"), 0.01);
  const auto rich = bounds_of("2x1", true);
  EXPECT_NEAR(rich.at("alone"), 0.5, 1e-3);
  EXPECT_NEAR(rich.at("program"), 5.0 / 12, 1e-3);
  EXPECT_EQ(bounds_of("2x1", false).size(), 2u);
  EXPECT_EQ(bounds_of("1x2 copula(0.5) uniform(0,1)", true).size(), 1u);
}

TEST(BestDesign, AdmitsNetworksOnlyIfAsked) {
  const Setting market = setting("1x1 uniform(0,1)");
  const DesignResult strict = best_design(market, {.minutes = 0.01, .profiles = 2000});
  for (const Contender& each : strict.kinds) EXPECT_TRUE(each.truthful) << each.mechanism;
  const DesignResult lenient =
      best_design(market, {.minutes = 0.03, .profiles = 2000, .regret_at_most = 10.0});
  // On a slow machine there may be no time for them, which is said then.
  int networks = 0;
  for (const Contender& each : lenient.kinds) networks += each.regret.has_value();
  for (const auto& [kind, why] : lenient.absent) {
    networks += kind == "regretnet" && why.find("minutes") != std::string::npos;
  }
  EXPECT_GT(networks, 0);
  for (const auto& [kind, why] : strict.absent) EXPECT_NE(kind, "regretnet") << why;
}

TEST(BestDesign, GivesNoNumberThatIsNone) {
  expect_user_error(
      [] { best_design(setting("1x1 power(0.012)"), {.minutes = 0.002, .profiles = 50000}); },
      {"power(0.012)", "not finite"});
}

TEST(BestDesign, JudgesFewRowsByCrossValidation) {
  const Setting market = make_setting("few.csv", past_values(120, 0.0, 3));
  const DesignResult result = best_design(market, {.minutes = 0.02, .seed = 1});
  EXPECT_EQ(result.folds, 5);
  EXPECT_EQ(result.profiles, 120);  // every row once
  EXPECT_EQ(
      best_design(make_setting("more.csv", past_values(1000, 0.0, 3)), {.minutes = 0.01, .seed = 1})
          .profiles,
      100);
}

// By hand: five designs, each judged on the fifth of the rows that it has not seen.
TEST(CrossValidation, JudgesEveryRowByADesignThatHasNotSeenIt) {
  const ValueTable table = past_values(100, 0.5, 4);
  std::vector<double> rows = table.design;
  rows.insert(rows.end(), table.held_out.begin(), table.held_out.end());
  double sum = 0.0;
  for (int fold = 0; fold < 5; ++fold) {
    ValueTable part{.bidders = 2, .items = 3, .design = {}, .held_out = {}};
    for (int k = 0; k < 100; ++k) {
      auto& to = k % 5 == fold ? part.held_out : part.design;
      to.insert(to.end(), rows.begin() + 6 * k, rows.begin() + 6 * (k + 1));
    }
    const auto made = exact("bundle", make_setting("part.csv", part));
    for (const double payment : run(*made, part.held_out).payments) sum += payment / 100;
  }
  const auto found = cross_validate("bundle", make_setting("few.csv", table), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->folds, 5);
  EXPECT_EQ(found->profiles, 100);
  EXPECT_NEAR(found->revenue, sum, 1e-9);
  EXPECT_FALSE(cross_validate("bundle", setting("2x2"), {}));
  EXPECT_FALSE(cross_validate("bundle", make_setting("m.csv", past_values(1000, 0.5, 4)), {}));
}

TEST(Baseline, IsTheBestOfTheQuickOnes) {
  const auto fees = best_baseline(setting("2x2"), 50'000, 1);  // the bundle earns .8393
  EXPECT_EQ(fees->mechanism, "entry-fees");
  EXPECT_NEAR(fees->revenue, 0.870, 0.006);
  EXPECT_EQ(best_baseline(setting("1x2"), 50'000, 1)->mechanism, "sja");
  EXPECT_EQ(best_baseline(setting("60x2"), 1'000, 1)->mechanism.find("entry"), std::string::npos);
}

// Reserves by the marginals would be for bidders who do not know of each other.
TEST(PastValues, FitReservesWhereBiddersDependOnEachOther) {
  const Setting together = make_setting("together.csv", past_values(2000, 0.6, 1));
  const Setting apart = make_setting("apart.csv", past_values(2000, 0.0, 1));
  EXPECT_TRUE(bidders_dependence(*laws_of(together).table).visible());
  EXPECT_FALSE(bidders_dependence(*laws_of(apart).table).visible());
  const auto earned = [&](const Mechanism& mechanism) {  // on the rows it was designed for
    const std::vector<double>& rows = laws_of(together).table->design;
    double sum = 0.0;
    for (const double payment : run(mechanism, rows).payments) sum += payment;
    return sum;
  };
  for (const char* name : {"itemwise-myerson", "bundle"}) {
    const auto fitted = exact(name, together);
    EXPECT_TRUE(fitted->parameters().notes.contains("reserves")) << name;
    EXPECT_FALSE(exact(name, apart)->parameters().notes.contains("reserves")) << name;
    EXPECT_GE(earned(*fitted), (1 - 1e-9) * earned(*exact("vcg", together))) << name;
  }
  EXPECT_NEAR(earned(*exact("itemwise-myerson", together)),
              earned(*exact("second-price", together, {.arguments = {{"fit-reserves", true}}})),
              1e-6 * earned(*exact("vcg", together)));
}

// 2,000 past profiles of bidders who share a factor; 100,000 fresh ones of the same law, profile by
// profile.
TEST(SlowPastValues, DesignEarnsMoreThanEveryClassicalKind) {
  const Setting market = make_setting("past.csv", past_values(2000, 0.6, 1));
  const DesignResult found = best_design(market, {.minutes = 6, .seed = 1});
  ValueTable fresh = past_values(100'000, 0.6, 2);
  fresh.held_out.insert(fresh.held_out.end(), fresh.design.begin(), fresh.design.end());
  const Setting later = make_setting("later.csv", fresh);
  std::vector<std::unique_ptr<Mechanism>> classical;
  classical.push_back(exact("vcg", market));
  classical.push_back(exact("itemwise-myerson", market));
  classical.push_back(exact("bundle", market));
  classical.push_back(exact("second-price", market, {.arguments = {{"fit-reserves", true}}}));
  std::vector<const Mechanism*> all{found.best.get()};
  for (const auto& each : classical) all.push_back(each.get());
  Comparison comparison(static_cast<int>(all.size()));
  comparison.measure(all, later, 100'000, 1);
  EXPECT_EQ(comparison.profiles(), 100'000);
  EXPECT_EQ(comparison.best(), 0);
  for (size_t k = 0; k < all.size(); ++k) {
    Contender told;
    comparison.fill(static_cast<int>(k), told);
    std::printf("%-18s %.3f (%.3f), behind %.3f (%.3f)\n", all[k]->name().c_str(), told.revenue,
                told.revenue_error, told.behind, told.behind_error);
    if (k == 0) continue;
    EXPECT_GT(told.behind, 4 * told.behind_error) << all[k]->name();
  }
}

TEST(PastValues, FitToEveryRowOnce) {
  const Setting market = make_setting("few.csv", past_values(50, 0.3, 2));
  EXPECT_EQ(design_values(market, 1, 200'000), laws_of(market).table->design);
  EXPECT_EQ(design_values(market, 1, 7).size(), 7u * 6u);
}

}  // namespace
}  // namespace agora::auctions

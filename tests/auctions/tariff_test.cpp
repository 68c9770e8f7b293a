// Two-part tariffs: truthful whatever the network says, Myerson's auctions among them.
#include "auctions/tariff.h"

#include <agora/auction_audit.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "auctions/exact/reserve.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/trainer.h"
#include "base/rng.h"
#include "support/scratch.h"

namespace agora::auctions {
namespace {

const MechanismKind& kind() { return mechanism_kind("tariff"); }

Parameters fresh(const Setting& market, int tariffs, uint64_t seed = 1) {
  return fresh_tariffs(kind(), market, tariff_size_for(market, 2, 8, tariffs), seed);
}

// Offers that jump with every bid of the others.
std::unique_ptr<Mechanism> wild(const Setting& market, uint64_t seed) {
  Parameters parameters = fresh(market, 5, seed);
  Rng rng(seed);
  for (auto& [name, tensor] : parameters.tensors) {
    if (name == "unit" || name == "reserve" || name.starts_with("scale.")) continue;
    for (double& value : tensor.values) value += 0.3 * rng.normal();
  }
  return make_mechanism(kind(), parameters);
}

// The same offers whatever the others bid: fees (K) and one markup per tariff, or the reserves.
std::unique_ptr<Mechanism> constant(const Setting& market, const std::vector<double>& fees,
                                    const std::vector<double>& markups,
                                    const std::vector<double>& shares) {
  Parameters parameters = fresh(market, static_cast<int>(fees.size()));
  for (const char* head : {"fee.weight", "markup.weight"}) {
    auto& values = parameters.tensors[head].values;
    std::fill(values.begin(), values.end(), 0.0);
  }
  parameters.tensors["fee.bias"].values = fees;
  parameters.tensors["markup.bias"].values = markups;
  parameters.tensors["share"].values = shares;
  return make_mechanism(kind(), parameters);
}

double utility(const Outcome& outcome, const double* values, int64_t row, int items) {
  double sum = -outcome.payments[row];
  for (int j = 0; j < items; ++j) sum += values[j] * outcome.allocation[row * items + j];
  return sum;
}

// Every bid of a grid against every truth on it: ties everywhere, and none of them pays.
TEST(Tariff, NoLieOfAGridPaysWhateverTheNetwork) {
  constexpr int kSteps = 5;
  for (const char* text :
       {"3x2 uniform(0,1)", "2x2 uniform(0,1) uniform(0,2) / exponential(0.5)"}) {
    const Setting market = setting(text);
    const int n = market.bidders();
    std::vector<std::vector<double>> grid;
    for (int a = 0; a < kSteps; ++a) {
      for (int b = 0; b < kSteps; ++b) grid.push_back({0.25 * a, 0.25 * b});
    }
    double largest = 0.0, sold = 0.0;
    Rng rng(3);
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      const auto mechanism = wild(market, seed);
      for (int k = 0; k < 12; ++k) {
        std::vector<double> others;
        for (int i = 0; i < n; ++i) {
          const auto& row = grid[rng.below(kSteps * kSteps)];
          others.insert(others.end(), row.begin(), row.end());
        }
        for (int i = 0; i < n; ++i) {
          std::vector<double> bids;
          for (const auto& row : grid) {
            bids.insert(bids.end(), others.begin(), others.end());
            std::copy(row.begin(), row.end(), bids.end() - 2 * (n - i));
          }
          const Outcome outcome = run(*mechanism, bids);
          for (size_t truth = 0; truth < grid.size(); ++truth) {
            const auto gain = [&](size_t lie) {
              return utility(outcome, grid[truth].data(), static_cast<int64_t>(lie) * n + i, 2);
            };
            EXPECT_GE(gain(truth), -1e-12);
            for (size_t lie = 0; lie < grid.size(); ++lie) {
              largest = std::max(largest, gain(lie) - gain(truth));
            }
          }
          for (size_t p = 0; p < grid.size(); ++p) {
            for (int j = 0; j < 2; ++j) {
              double given = 0.0;
              for (int l = 0; l < n; ++l) given += outcome.allocation[(p * n + l) * 2 + j];
              EXPECT_LE(given, 1.0);
              sold += given;
            }
          }
        }
      }
    }
    EXPECT_LE(largest, 1e-12) << text;
    EXPECT_GT(sold, 100) << text;
  }
}

// Every tariff with every set of items, by brute force.
TEST(Tariff, GivesEveryBidderItsBestOffer) {
  constexpr int m = 5, kSets = 1 << m;
  const Setting market = setting("3x5 uniform(0,1)");
  const std::vector<double> all_fees{0.0, 0.2, 0.5, 0.1, 0.7, 0.3},
      all_markups{0.4, 0.15, 0.0, 0.25, 0.02, 0.05};
  std::vector<double> bids(50 * 3 * m);
  market.sample(7, kEvaluationStream, 0, 50, bids.data());
  for (const size_t tariffs : {1, 3, 4, 6}) {
    const std::vector<double> fees(all_fees.begin(), all_fees.begin() + tariffs),
        markups(all_markups.begin(), all_markups.begin() + tariffs);
    const auto mechanism = constant(market, fees, markups, std::vector<double>(tariffs));
    const Outcome outcome = run(*mechanism, bids);
    for (int row = 0; row < 150; ++row) {
      const double* profile = bids.data() + row / 3 * 3 * m;
      double best = 0.0, paid = 0.0;
      for (size_t k = 0; k < tariffs; ++k) {
        for (int set = 0; set < kSets; ++set) {
          double price = fees[k], value = 0.0;
          for (int j = 0; j < m; ++j) {
            if ((set >> j & 1) == 0) continue;
            double other = 0.0;
            for (int i = 0; i < 3; ++i) {
              if (i != row % 3) other = std::max(other, profile[i * m + j]);
            }
            price += other + markups[k];
            value += bids[row * m + j];
          }
          if (value - price > best) best = value - price, paid = price;
        }
      }
      EXPECT_NEAR(utility(outcome, bids.data() + row * m, row, m), best, 1e-6);
      EXPECT_NEAR(outcome.payments[row], paid, 1e-6);
    }
  }
}

TEST(Tariff, StartsFromItemwiseMyerson) {
  const Setting market = setting("6x3 uniform(0,1)");
  const auto member = constant(market, {0.0}, {0.0}, {1.0});
  const auto myerson = exact("itemwise-myerson", market);
  std::vector<double> bids(200 * 18);
  market.sample(3, kEvaluationStream, 0, 200, bids.data());
  const Outcome found = run(*member, bids), expected = run(*myerson, bids);
  EXPECT_EQ(found.allocation, expected.allocation);
  for (size_t k = 0; k < found.payments.size(); ++k) {
    EXPECT_NEAR(found.payments[k], expected.payments[k], 1e-6);
  }
  // The highest of six: the integral of (2x - 1) 6 x^5 from 1/2 to 1, three times.
  const Evaluation earned = evaluate(*member, market, {.profiles = 40'000, .seed = 1});
  const double closed = 3 * (12.0 / 7 - 1 - (12.0 / 7 / 128 - 1.0 / 64));
  EXPECT_NEAR(earned.revenue, closed, 4 * earned.revenue_error);
}

// With few bidders and many items price levels fall and fees rise from tariff to tariff.
TEST(Tariff, StartsFromFallingPriceLevels) {
  for (const char* text : {"2x8 uniform(0,1)", "3x8 uniform(0,4)"}) {
    const Parameters parameters = fresh(setting(text), 6);
    const auto& markups = parameters.tensors.at("markup.bias").values;
    // One winner in ten is above the first level; the reserve is half of the highest value.
    const int n = setting(text).bidders();
    EXPECT_NEAR(markups.front(), std::pow(0.9, 1.0 / n) - 0.5, 0.005) << text;
    EXPECT_NEAR(markups.back(), -0.5, 1e-9) << text;  // no reserve
    for (size_t k = 1; k < 6; ++k) {
      EXPECT_LT(markups[k], markups[k - 1]) << text;
    }
  }
  EXPECT_FALSE(fresh(setting("6x8"), 6).tensors.contains("slope"));
  EXPECT_FALSE(fresh(setting("2x7"), 6).tensors.contains("slope"));
}

// A fee takes 65 % of what a bidder expects to gain at its level: from what the others bid, before
// it knows its own values.
TEST(Tariff, StartsFromFeesByWhatIsLeftToGain) {
  const Setting market = setting("3x8 uniform(0,4)");
  Parameters parameters = fresh_tariffs(kind(), market, tariff_size_for(market, 2, 32, 6), 1);
  auto& corrections = parameters.tensors.at("fee.weight").values;
  std::fill(corrections.begin(), corrections.end(), 0.0);
  const auto& markups = parameters.tensors.at("markup.bias").values;
  const TariffViews views(parameters);
  TariffOffers offers(parameters, views, TariffOffers::To::kAll);
  for (const double other : {0.3, 0.5, 0.8}) {
    const std::vector<double> bids(24, 4 * other);
    offers.offer(1, views, bids.data());
    for (int64_t k = 0; k < 6; ++k) {
      const double level = std::max(other, 0.5 + markups[k]),
                   expected = 8 * (1 - level) * (1 - level) / 2;
      EXPECT_NEAR(offers.fees(0)[k], 0.65 * expected, 0.03) << other << ' ' << k;
    }
  }
}

// One set of weights serves any number of bidders and items that are alike.
TEST(Tariff, TakesAnySizeWhereAllAreAlike) {
  const Setting small = setting("2x2 uniform(0,1)"), large = setting("4x5 uniform(0,1)");
  const auto mechanism = wild(small, 3);
  EXPECT_TRUE(mechanism->accepts(4, 5));
  const Audit found = audit(*mechanism, large, {.profiles = 500, .regret_profiles = 5});
  EXPECT_GT(found.truth.revenue, 0.5);
  EXPECT_LE(found.strong->max, 1e-12);
  // The same as weights that say so.
  const auto meant = make_mechanism(kind(), of_size(mechanism->parameters(), 4, 5));
  std::vector<double> bids(100 * 20);
  large.sample(1, kEvaluationStream, 0, 100, bids.data());
  std::vector<double> allocation(bids.size()), payments(100 * 4);
  mechanism->run(100, 4, 5, bids.data(), allocation.data(), payments.data());
  EXPECT_EQ(payments, run(*meant, bids).payments);
  EXPECT_EQ(mechanism->parameters().bidders, 2);
  EXPECT_FALSE(wild(setting("2x2 uniform(0,1) uniform(0,2)"), 3)->accepts(2, 3));
  EXPECT_FALSE(wild(setting("2x2 uniform(0,1) / uniform(0,2)"), 3)->accepts(3, 2));
  EXPECT_FALSE(wild(setting("2x2 uniform(0,1); demand unit"), 3)->accepts(3, 2));
}

// An item is offered to its highest bidder alone: the same offers as if all could want it.
TEST(Tariff, OffersToTheHighestBiddersAreThoseToAll) {
  using To = TariffOffers::To;
  for (const char* text : {"3x4 uniform(0,1)", "2x9", "2x3 uniform(0,1) uniform(0,2) uniform(0,3)",
                           "2x2 uniform(0,1) / uniform(0,2)", "1x2"}) {
    const Setting market = setting(text);
    const Parameters parameters = wild(market, 4)->parameters();
    const TariffViews views(parameters);
    TariffOffers highest(parameters, views, To::kHighest), all(parameters, views, To::kAll);
    std::vector<double> bids(5 * market.bidders() * market.items());
    market.sample(1, kEvaluationStream, 0, 5, bids.data());
    for (TariffOffers* offers : {&highest, &all}) offers->offer(5, views, bids.data());
    int won = 0;
    for (int64_t row = 0; row < 5 * all.n; ++row) {
      for (int64_t k = 0; k < all.tariffs; ++k) {
        EXPECT_FLOAT_EQ(highest.fees(row)[k], all.fees(row)[k]) << text;
        for (int j = 0; j < all.m; ++j) {
          if (all.wins[row * all.m + j] == 0) continue;
          EXPECT_NEAR(highest.markups(row, j)[k], all.markups(row, j)[k], 1e-5) << text;
          ++won;
        }
      }
    }
    EXPECT_EQ(won, 5 * all.m * all.tariffs) << text;
  }
}

// What is too large for single precision in one bidder's view leaves the others' offers alone.
TEST(Tariff, BidsBeyondSinglePrecisionAreServed) {
  for (const char* text : {"2x2 exponential(1)", "2x8 exponential(1)"}) {
    const Setting market = setting(text);
    const auto m = static_cast<size_t>(market.items());
    std::vector<double> bids(2 * 2 * m, 1e300);
    std::fill_n(bids.begin() + static_cast<int64_t>(m), 2 * m, 0.5);  // each is the higher once
    const Outcome found = run(*make_mechanism(kind(), fresh(market, 4)), bids);
    for (size_t row = 0; row < 4; ++row) {
      EXPECT_TRUE(std::isfinite(found.payments[row])) << text;
      const bool higher = row == 0 || row == 3;
      EXPECT_EQ(found.allocation[row * m], higher ? 1.0 : 0.0) << text;
      EXPECT_EQ(found.payments[row] > 0.0, higher) << text;
    }
  }
}

// A level less the threshold, or the reserve less the threshold as far as that is above 0.
TEST(Tariff, MarkupsSeeHowFarTheThresholdIsFromTheReserve) {
  const Setting market = setting("2x2 uniform(0,1)");
  const std::vector<double> bids{0.45, 0.9, 0.3, 0.65};
  const auto clipped = constant(market, {0.0}, {-0.1}, {1.0});  // 0.3 + 0.2 - 0.1 and 0.65
  EXPECT_NEAR(run(*clipped, bids).payments[0], 0.4 + 0.65, 1e-6);
  Parameters levels = constant(market, {0.0}, {0.2}, {1.0})->parameters();
  levels.tensors["slope"] = levels.tensors.at("share");
  levels.tensors.erase("share");
  EXPECT_NEAR(run(*make_mechanism(kind(), levels), bids).payments[0], 0.7, 1e-6);  // and 0.7
}

// What the training believes it earns, almost without smoothing, is what the mechanism earns.
TEST(Tariff, LearnsTheRevenueThatItWillEarn) {
  for (const char* text :
       {"3x2 uniform(0,2)", "2x2 uniform(0,1) uniform(0,2) / exponential(0.5)"}) {
    const Setting market = setting(text);
    Recipe how = recipe("tariff", market);
    how.batch = 500;
    how.rate = how.final_rate = 0;
    how.temperature = how.final_temperature = 1e-6;
    const auto training = trainer("tariff", market, how, 4);
    const auto mechanism = training->mechanism();
    training->advance(1);
    std::vector<double> values(500 * market.bidders() * 2);
    market.sample(4, kTrainingStream, 0, 500, values.data());
    double revenue = 0.0;
    for (const double payment : run(*mechanism, values).payments) revenue += payment / 500;
    EXPECT_GT(revenue, 0.1);
    EXPECT_NEAR(training->numbers().revenue, revenue, 1e-3 * revenue) << text;
  }
}

// Item by item two bidders pay 5/12 each of three times; a fee for several items earns more.
TEST(Tariff, SoonEarnsMoreThanItemwiseMyerson) {
  const Setting market = setting("2x3 uniform(0,1)");
  Recipe how = recipe("tariff", market);
  how.iterations = 400;
  how.batch = 256;
  how.width = 16;
  how.averaging = 0.98;
  const auto training = trainer("tariff", market, how, 1);
  training->advance(how.iterations);
  const Evaluation earned =
      evaluate(*training->mechanism(), market, {.profiles = 50'000, .seed = 2});
  EXPECT_GT(earned.revenue, 1.25 + 0.03);
  EXPECT_LT(earned.revenue, 1.35);
  EXPECT_EQ(earned.ir_violation, 0.0);
}

// With many bidders a winner gains little on an item: choices smoothed by more than that sell
// without fees and markups, and stay there.
TEST(Tariff, SoonEarnsMoreThanItemwiseMyersonFromManyBidders) {
  const Setting market = setting("10x50 uniform(0,1)");
  Recipe how = recipe("tariff", market);
  how.iterations = 200;
  how.batch = 32;
  how.tariffs = 4;
  how.rate = 1e-3;
  how.averaging = 0;
  const auto training = trainer("tariff", market, how, 3);  // of seeds 1 and 2 fees come later
  training->advance(how.iterations);
  const Evaluation earned =
      evaluate(*training->mechanism(), market, {.profiles = 5'000, .seed = 2});
  // The highest of ten: the integral of (2x - 1) 10 x^9 from 1/2 to 1, fifty times.
  const double itemwise = 50 * (20.0 / 11 - 1 - (20.0 / 11 / 2048 - 1.0 / 1024));
  EXPECT_GT(earned.revenue, itemwise + 4 * earned.revenue_error);
}

TEST(Tariff, TakesFewerProfilesAndSmallerStepsWhereItemsAreMany) {
  EXPECT_EQ(recipe("tariff", setting("2x10")).batch, 4096);
  EXPECT_EQ(recipe("tariff", setting("2x50")).batch, 819);
  EXPECT_EQ(recipe("tariff", setting("10x50")).batch, 256);
  EXPECT_LT(recipe("tariff", setting("10x50")).rate, recipe("tariff", setting("5x10")).rate);
}

TEST(Tariff, IsNoRecipeOfTheThesis) {
  expect_user_error([] { recipe("tariff", setting("2x2"), "thesis"); }, {"not of the thesis"});
}

TEST(Reserve, IsTheBestOfAll) {
  Rng rng(9);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::pair<double, double>> sales;
    for (int k = 0; k < 12; ++k) {
      const double a = rng.below(8), b = rng.below(8);
      sales.emplace_back(std::max(a, b), std::min(a, b));
    }
    const auto earned = [&](double reserve) {
      double sum = 0.0;
      for (const auto& [first, second] : sales) {
        if (first >= reserve) sum += std::max(second, reserve);
      }
      return sum;
    };
    double most = 0.0;
    for (int r = 0; r <= 8; ++r) most = std::max(most, earned(r));
    EXPECT_EQ(earned(best_reserve(sales)), most);
  }
}

}  // namespace
}  // namespace agora::auctions

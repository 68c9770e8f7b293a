// Affine maximisers with entry fees: who enters is the best set, outcomes are those of the affine
// maximiser that lists all allocations, and no lie pays whatever the fees are.
#include <agora/auction_audit.h>
#include <gtest/gtest.h>

#include <cmath>

#include "auctions/exact/affine_maximiser.h"
#include "auctions/exact/entry.h"
#include "auctions/setting.h"
#include "base/rng.h"
#include "lies.h"
#include "support/scratch.h"

namespace agora::auctions {
namespace {

// Of all sets of bidders.
double highest(const std::vector<double>& worths, const std::vector<double>& fees, int m,
               int without) {
  const int n = static_cast<int>(fees.size());
  double best = 0.0;
  for (int set = 1; set < 1 << n; ++set) {
    if (without >= 0 && (set >> without & 1) != 0) continue;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum -= (set >> i & 1) != 0 ? fees[i] : 0.0;
    for (int j = 0; j < m; ++j) {
      double most = 0.0;
      for (int i = 0; i < n; ++i) {
        if ((set >> i & 1) != 0) most = std::max(most, worths[i * m + j]);
      }
      sum += most;
    }
    best = std::max(best, sum);
  }
  return best;
}

double sum_of(const std::vector<int>& who, const std::vector<double>& worths,
              const std::vector<double>& fees, int m) {
  double sum = 0.0;
  for (const int i : who) sum -= fees[i];
  for (int j = 0; j < m; ++j) {
    double most = 0.0;
    for (const int i : who) most = std::max(most, worths[i * m + j]);
    sum += most;
  }
  return sum;
}

// Sums beyond all numbers are refused, and do not send the search round and round.
TEST(EntryFees, RefuseWhatIsNotFinite) {
  Parameters parameters = parameters_for("entry-fees", setting("4x4"));
  parameters.tensors["weights"] = {{4}, {2, 1, 1, 1}};
  parameters.tensors["fees"] = {{4}, std::vector<double>(4, 0.5)};
  parameters.tensors["reserves"] = {{4, 4}, std::vector<double>(16, 0.1)};
  std::vector<double> bids(16, 0.6);
  bids[1] = 9e307;
  bids[6] = 7e307;
  expect_user_error([&] { run(EntryFees(parameters), bids); }, {"not finite"});
  parameters.tensors["fees"].values[0] = 1e308;
  expect_user_error([&] { EntryFees mechanism(parameters); }, {"a fee", "not finite"});
}

TEST(EntryFees, AreNotFittedWhereSumsAreBeyondAllNumbers) {
  expect_user_error(
      [] {
        exact("entry-fees", setting("2x2 uniform(0,1e200)"),
              {.arguments = {{"design-profiles", 50}}});
      },
      {"uniform(0,1e200)", "not finite"});
}

// What a search reads is counted, and it stops where it is told to.
TEST(EntryFees, CountWhatTheyRead) {
  const int n = 20, m = 40;
  Rng rng(3);
  std::vector<double> worths(n * m), fees(n, 0.1);
  for (double& worth : worths) worth = rng.uniform() < 0.3 ? 1.0 : 0.0;
  EntrySearch exact(n, m), stopped(n, m);
  exact.best(worths.data(), fees.data());
  EXPECT_GT(exact.read(), 10'000);  // it branches
  stopped.stop_after(2'000);
  stopped.best(worths.data(), fees.data());
  EXPECT_LT(stopped.read(), 4'000);
}

// Where the search branches much, the baseline of a training does without.
TEST(EntryFees, KnowTheEffort) {
  const MechanismKind& kind = mechanism_kind("entry-fees");
  const double hard = kind.effort(setting("20x40 discrete(0:0.7,1:0.3)"));
  const double easy = kind.effort(setting("20x40"));
  EXPECT_GT(hard, 5 * easy);
}

// Worths as markets have them, nearly the same for all, exactly the same, with many zeros, with few
// levels; fees from none to more than anybody is worth.
TEST(EntryFees, LetTheBestSetEnter) {
  int sets = 0;
  for (const auto& [n, m] : {std::pair{1, 3}, {2, 1}, {4, 5}, {7, 12}, {9, 3}, {10, 8}}) {
    EntrySearch entry(n, m);
    for (uint32_t trial = 0; trial < 400; ++trial) {
      Rng rng(5, 1, trial, static_cast<uint32_t>(n));
      std::vector<double> worths(n * m), fees(n);
      const uint32_t law = trial % 5;
      const double fee = 0.4 * m / n * rng.uniform() * (trial % 3);
      for (int e = 0; e < n * m; ++e) {
        const double u = rng.uniform();
        worths[e] = law == 0   ? u - 0.3
                    : law == 1 ? 0.5 + 1e-3 * u
                    : law == 2 ? 0.25 * (e % m)
                    : law == 3 ? std::max(0.0, 2 * u - 1)
                               : std::round(4 * u) / 4 - 0.25;
      }
      for (double& each : fees) each = trial % 2 == 0 ? fee : fee * 2 * rng.uniform();
      for (int without = -1; without < n; without += 3) {
        const double expected = highest(worths, fees, m, without);
        ASSERT_NEAR(
            without < 0 ? entry.best(worths.data(), fees.data()) : entry.best_without(without),
            expected, 1e-12)
            << n << "x" << m << ", trial " << trial << ", without " << without;
        ASSERT_NEAR(sum_of(entry.who(), worths, fees, m), expected, 1e-12);
        for (const int i : entry.who()) ASSERT_NE(i, without);
        const int entered = static_cast<int>(entry.who().size());
        sets += entered > 1 && entered < n - 1;
      }
    }
  }
  EXPECT_GT(sets, 1000);
}

Parameters drawn(const Setting& market, uint64_t seed) {
  const int64_t n = market.bidders(), m = market.items();
  Rng rng(seed);
  Parameters parameters = parameters_for("entry-fees", market);
  Parameters::Tensor fees{{n}, {}}, reserves{{n, m}, {}}, weights{{n}, {}};
  for (int64_t i = 0; i < n; ++i) fees.values.push_back(0.5 * rng.uniform());
  for (int64_t e = 0; e < n * m; ++e) reserves.values.push_back(0.4 * rng.uniform());
  for (int64_t i = 0; i < n; ++i) weights.values.push_back(0.5 + rng.uniform());
  parameters.tensors["weights"] = std::move(weights);
  parameters.tensors["fees"] = std::move(fees);
  parameters.tensors["reserves"] = std::move(reserves);
  return parameters;
}

// Who would have an item at the same bid pays nothing for it: the other does, that bid.
TEST(EntryFees, SellAnItemOfEqualBidsOnce) {
  Parameters parameters = parameters_for("entry-fees", setting("2x3"));
  parameters.tensors["weights"] = {{2}, {1, 1}};
  parameters.tensors["fees"] = {{2}, {0.1, 0.1}};
  parameters.tensors["reserves"] = {{2, 3}, std::vector<double>(6, 0.0)};
  const Outcome outcome = run(EntryFees(parameters), {1.0, 0.5, 0.75, 0.25, 1.0, 0.75});
  const double first = outcome.allocation[2];
  EXPECT_EQ(outcome.allocation, (std::vector<double>{1, 0, first, 0, 1, 1 - first}));
  EXPECT_NEAR(outcome.payments[0], 0.1 + 0.25 + 0.75 * first, 1e-15);
  EXPECT_NEAR(outcome.payments[1], 0.1 + 0.5 + 0.75 * (1 - first), 1e-15);
}

// A bid so large that all others vanish in a sum with it changes nothing for them but that it wins:
// not what they get, nor what they or its bidder pay.
TEST(EntryFees, SellToOthersBesideOneHugeBidAsBesideALargeOne) {
  int sold = 0;
  for (const char* text : {"3x2", "4x3", "6x5"}) {
    const Setting market = setting(text);
    const int n = market.bidders(), m = market.items();
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      const EntryFees mechanism(drawn(market, seed));
      Rng rng(seed, 4);
      std::vector<double> bids(n * m);
      for (double& bid : bids) bid = 1.5 * rng.uniform();
      const auto outcome = [&](double huge) {
        std::vector<double> with = bids;
        for (int j = 0; j < m; j += 2) with[seed % n * m + j] = huge;
        return run(mechanism, with);
      };
      const Outcome large = outcome(1e4);
      for (const double huge : {1e17, 1e300}) {
        const Outcome found = outcome(huge);
        ASSERT_EQ(found.allocation, large.allocation) << text << ", seed " << seed;
        for (int i = 0; i < n; ++i) ASSERT_NEAR(found.payments[i], large.payments[i], 1e-11);
      }
      for (int j = 1; j < m; j += 2) {
        for (int i = 0; i < n; ++i) {
          sold += i != static_cast<int>(seed % n) && large.allocation[i * m + j] > 0;
        }
      }
    }
  }
  EXPECT_GT(sold, 100);
}

TEST(EntryFees, AreTheAffineMaximiserOfTheirBoosts) {
  for (const char* text : {"2x2", "3x2", "2x4", "4x3", "1x3"}) {
    const Setting market = setting(text);
    const int n = market.bidders(), m = market.items();
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const Parameters own = drawn(market, seed);
      const auto numbers = [&](const char* name) { return own.tensors.at(name).values; };
      const std::vector<double> fees = numbers("fees"), reserves = numbers("reserves"),
                                weights = numbers("weights");
      Parameters listed = parameters_for("ama", market);
      Parameters::Tensor boosts{{allocation_count(n, m)}, {}};
      for (int64_t a = 0; a < boosts.shape[0]; ++a) {
        const std::vector<int> owners = allocation_owners(a, n, m);
        double boost = 0.0;
        for (int i = 0; i < n; ++i) {
          const bool enters = std::find(owners.begin(), owners.end(), i) != owners.end();
          if (enters) boost -= weights[i] * fees[i];
        }
        for (int j = 0; j < m; ++j) {
          const int i = owners[j];
          if (i >= 0) boost -= weights[i] * reserves[i * m + j];
        }
        boosts.values.push_back(boost);
      }
      listed.tensors["boosts"] = std::move(boosts);
      listed.tensors["weights"] = {{n}, weights};
      std::vector<double> bids(500 * n * m);
      market.sample(seed, kEvaluationStream, 0, 500, bids.data());
      const Outcome found = run(EntryFees(own), bids);
      const Outcome expected = run(AffineMaximiser(listed), bids);
      EXPECT_EQ(found.allocation, expected.allocation) << text;
      double paid = 0.0;
      for (size_t k = 0; k < found.payments.size(); ++k) {
        ASSERT_NEAR(found.payments[k], expected.payments[k], 1e-12) << text;
        paid += found.payments[k];
      }
      EXPECT_GT(paid, 100.0);
    }
  }
}

TEST(EntryFees, NoLiePaysWhateverTheyAre) {
  for (const char* text : {"3x3", "5x4", "8x2"}) {
    for (uint64_t seed = 11; seed <= 13; ++seed) {
      EXPECT_LT(most_gained(EntryFees(drawn(setting(text), seed)), seed, 20, 100), 1e-12) << text;
    }
  }
}

double earned(const Mechanism& mechanism, const Setting& market) {
  return evaluate(mechanism, market, {.profiles = 20'000, .seed = 9}).revenue;
}

double designed(const Setting& market, int profiles) {
  return earned(*exact("entry-fees", market, {.arguments = {{"design-profiles", profiles}}}),
                market);
}

// One item: a fee is a reserve, and each bidder's own reserve makes it Myerson's auction.
TEST(EntryFees, OfOneItemAreMyersons) {
  const Setting market = setting("3x1 uniform(0,1) / uniform(0,2) / uniform(0,3)");
  const double best = earned(*exact("myerson", market), market);
  EXPECT_NEAR(designed(market, 5000), best, 0.005 * best);
}

// One bidder: the best price of the bundle, 3.4483, is a fee; item by item earns 2.5.
TEST(EntryFees, OfOneBidderSellAllAsOne) {
  const Setting market = setting("1x10");
  const double bundle = earned(*exact("bundle", market), market);
  EXPECT_GT(designed(market, 5000), bundle - 0.02);
}

// Many items among many bidders, where item by item leaves each winner a tenth of what it gets; and
// bidders who differ, where a weight has to make up for a law that is narrow.
TEST(EntryFees, EarnMoreThanItemByItem) {
  for (const char* text : {"6x20", "4x8 lognormal(0,1)", "2x6 uniform(0,1) / uniform(2,3)",
                           "3x4 uniform(0,1) / uniform(0,1) / normal(1,0.1,0,2)"}) {
    const Setting market = setting(text);
    EXPECT_GT(designed(market, 300), 1.03 * earned(*exact("itemwise-myerson", market), market))
        << text;
  }
}

TEST(EntryFees, RefuseOthers) {
  expect_user_error([] { exact("entry-fees", setting("51x2"), {}); },
                    {"at most 50 bidders", "tariff takes any number"});
  expect_user_error([] { exact("entry-fees", setting("2x2; demand unit"), {}); },
                    {"does not take unit demand"});
  Parameters bad = drawn(setting("2x2"), 1);
  bad.tensors.at("fees").values[1] = -0.1;
  expect_user_error([&] { EntryFees mechanism(bad); }, {"must not be negative"});
  bad.tensors.at("weights").values[0] = 0.0;
  bad.tensors.at("fees").values[1] = 0.1;
  expect_user_error([&] { EntryFees mechanism(bad); }, {"weights must be positive"});
  bad.tensors.erase("fees");
  expect_user_error([&] { EntryFees mechanism(bad); }, {"'fees' is missing"});
  bad.bidders = 1'000'000;
  expect_user_error([&] { EntryFees mechanism(bad); }, {"at most 50 bidders, found 1000000"});
}

}  // namespace
}  // namespace agora::auctions

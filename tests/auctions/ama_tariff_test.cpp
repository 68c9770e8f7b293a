// Tariffs on an affine maximiser: both are members, and no lie pays whatever the offers are.
#include <agora/auction_training.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "auctions/exact/bundle_sizes.h"
#include "auctions/setting.h"
#include "auctions/tariff.h"
#include "auctions/training/boost_slopes.h"
#include "auctions/training/trainer.h"
#include "base/rng.h"
#include "base/safetensors.h"

namespace agora::auctions {
namespace {

const MechanismKind& kind() { return mechanism_kind("ama-tariff"); }

Parameters fresh(const Setting& market, uint64_t seed) {
  return fresh_ama_tariffs(kind(), market, tariff_size_for(market, 2, 8, 3), seed);
}

bool is_offer(const std::string& name) {
  return name.find('.') != std::string::npos ? !name.starts_with("scale.") : name == "share";
}

// Offers that jump with every bid of the others.
void make_wild(Parameters& parameters, uint64_t seed) {
  Rng rng(seed);
  for (auto& [name, tensor] : parameters.tensors) {
    if (!is_offer(name)) continue;
    for (double& value : tensor.values) value += 0.3 * rng.normal();
  }
}

void set_boosts(Parameters& parameters, std::vector<double> boosts) {
  const BundleSizes sizes(parameters.bidders, parameters.items);
  std::vector<int64_t> from;
  never_rising(sizes, boosts, from);
  parameters.tensors["boosts"] = {{sizes.count()}, boosts};
}

std::vector<double> drawn_boosts(const BundleSizes& sizes, Rng& rng) {
  std::vector<double> boosts;
  for (int64_t k = 0; k < sizes.count(); ++k) boosts.push_back(k == 0 ? 0.0 : -rng.uniform());
  std::vector<int64_t> from;
  never_rising(sizes, boosts, from);
  return boosts;
}

// The best that the second of two bidders can make of what S leaves to it.
double left_over(const BundleSizes& sizes, const std::vector<double>& boosts, int set,
                 const std::vector<double>& bids) {
  const int m = sizes.items();
  double best = -1e9;
  for (int other = 0; other < 1 << m; ++other) {
    if ((set & other) != 0) continue;
    int own = 0, its = 0;
    double worth = 0.0;
    for (int j = 0; j < m; ++j) {
      own += set >> j & 1;
      its += other >> j & 1;
      if ((other >> j & 1) != 0) worth += bids[j];
    }
    for (int64_t k = 0; k < sizes.count(); ++k) {
      if (sizes.sizes(k)[0] == own && sizes.sizes(k)[1] == its) worth += boosts[k];
    }
    best = std::max(best, worth);
  }
  return best;
}

bool supermodular(const BundleSizes& sizes, const std::vector<double>& boosts,
                  const std::vector<double>& bids) {
  const int sets = 1 << sizes.items();
  std::vector<double> best;
  for (int set = 0; set < sets; ++set) best.push_back(left_over(sizes, boosts, set, bids));
  for (int a = 0; a < sets; ++a) {
    for (int b = 0; b < a; ++b) {
      if (best[a | b] + best[a & b] < best[a] + best[b] - 1e-9) return false;
    }
  }
  return true;
}

// By brute force: where markups are admitted items are complements for every bid of the other, and
// where they are not some bid shows it.
TEST(AmaTariff, AdmitsMarkupsWhereItemsAreComplements) {
  const BundleSizes sizes(2, 3);
  Rng rng(4);
  int admitted = 0, refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<double> boosts = drawn_boosts(sizes, rng);
    for (int64_t k = 0; trial % 2 == 0 && k < sizes.count(); ++k) {  // alike, and convex
      const double a = sizes.sizes(k)[0], b = sizes.sizes(k)[1];
      boosts[k] = -2 + 0.2 * boosts[k] - 0.6 * (a + b) + 0.1 * (a * a + b * b);
    }
    const bool told = admits_markups(sizes, boosts);
    bool found = true;
    for (int k = 0; k < 60; ++k) {
      std::vector<double> bids;
      for (int j = 0; j < 3; ++j) bids.push_back(rng.uniform() < 0.3 ? 0.0 : 2 * rng.uniform());
      found = found && supermodular(sizes, boosts, bids);
    }
    EXPECT_TRUE(found || !told) << trial;
    (told ? admitted : refused) += 1;
  }
  EXPECT_GT(admitted, 20);
  EXPECT_GT(refused, 100);
  // The best known for two items; and one who needs the pair is in the way of the other's single.
  EXPECT_TRUE(admits_markups(BundleSizes(2, 2), {0, -.63, -.63, -.9, -1.126, -.9}));
  EXPECT_FALSE(admits_markups(BundleSizes(2, 2), {0, -.1, -.1, -.9, -.2, -.9}));
  EXPECT_TRUE(admits_markups(BundleSizes(3, 1), {0, -.1, -.2, -.3}));
  EXPECT_FALSE(admits_markups(BundleSizes(3, 2),
                              std::vector<double>{0, -.1, -.1, -.1, -.1, -.2, -.1, -.2, -.2, -.1}));
}

double utility(const Outcome& outcome, const double* values, int64_t row, int items) {
  double sum = -outcome.payments[row];
  for (int j = 0; j < items; ++j) sum += values[j] * outcome.allocation[row * items + j];
  return sum;
}

// Every bid of a grid against every truth on it, with markups and with fees alone.
TEST(AmaTariff, NoLieOfAGridPaysWhateverTheOffers) {
  constexpr int kSteps = 5;
  std::vector<std::vector<double>> grid;
  for (int a = 0; a < kSteps; ++a) {
    for (int b = 0; b < kSteps; ++b) grid.push_back({0.25 * a, 0.25 * b});
  }
  Rng rng(3);
  for (const int n : {2, 3}) {
    const Setting market = setting(n == 2 ? "2x2" : "3x2");
    double largest = 0.0, sold = 0.0;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Parameters parameters = fresh(market, seed);
      make_wild(parameters, seed);
      const BundleSizes sizes(n, 2);
      std::vector<double> boosts{0, -.5, -.5, -.75, -1, -.75};
      if (n == 3) {  // many ties
        for (boosts = {0}; std::ssize(boosts) < sizes.count();) {
          boosts.push_back(-0.25 * static_cast<double>(1 + rng.below(4)));
        }
      }
      set_boosts(parameters, boosts);
      EXPECT_EQ(admits_markups(sizes, parameters.tensors["boosts"].values), n == 2);
      const auto mechanism = make_mechanism(kind(), parameters);
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
          for (const double share : outcome.allocation) sold += share;
          for (size_t p = 0; p < grid.size() * 2; ++p) {
            double given = 0.0;
            for (int l = 0; l < n; ++l) given += outcome.allocation[(p / 2 * n + l) * 2 + p % 2];
            EXPECT_LE(given, 1.0);
          }
        }
      }
    }
    EXPECT_LE(largest, 1e-12) << n;
    EXPECT_GT(sold, 100) << n;
  }
}

TEST(AmaTariff, ContainsTariffs) {
  for (const char* text : {"2x3", "3x2"}) {
    const Setting market = setting(text);
    Parameters own = fresh(market, 2);
    make_wild(own, 5);
    set_boosts(own, std::vector<double>(own.tensors.at("boosts").values.size(), 0.0));
    Parameters tariffs = own;
    tariffs.mechanism = "tariff";
    std::vector<double> bids(100 * 6);
    market.sample(3, kEvaluationStream, 0, 100, bids.data());
    const Outcome found = run(*make_mechanism(kind(), own), bids);
    const Outcome expected = run(*make_mechanism(mechanism_kind("tariff"), tariffs), bids);
    EXPECT_EQ(found.allocation, expected.allocation) << text;
    double paid = 0.0;
    for (size_t k = 0; k < found.payments.size(); ++k) {
      EXPECT_NEAR(found.payments[k], expected.payments[k], 1e-6) << text;  // offers are rounded
      paid += found.payments[k];
    }
    EXPECT_GT(paid, 1.0);
  }
}

TEST(AmaTariff, ContainsAffineMaximisers) {
  Rng rng(8);
  for (const char* text : {"2x3", "3x2"}) {
    const Setting market = setting(text);
    Parameters own = fresh(market, 2);
    for (auto& [name, tensor] : own.tensors) {
      if (is_offer(name)) std::fill(tensor.values.begin(), tensor.values.end(), 0.0);
    }
    std::vector<double> boosts = drawn_boosts(BundleSizes(market.bidders(), market.items()), rng);
    for (double& boost : boosts) boost = std::round(4 * boost) / 4;
    set_boosts(own, boosts);
    std::vector<double> bids(200 * 6);
    market.sample(3, kEvaluationStream, 0, 200, bids.data());
    for (size_t k = 0; k < bids.size() / 2; ++k) bids[k] = std::round(4 * bids[k]) / 4;  // ties
    const Outcome found = run(*make_mechanism(kind(), own), bids);
    const Outcome expected = run(SizeMaximiser(own), bids);
    EXPECT_EQ(found.allocation, expected.allocation) << text;
    for (size_t k = 0; k < found.payments.size(); ++k) {
      EXPECT_NEAR(found.payments[k], expected.payments[k], 1e-12) << text;
    }
  }
}

Recipe small(const Setting& market) {
  Recipe how = recipe("ama-tariff", market);
  how.iterations = 40;
  how.batch = 64;
  how.width = 8;
  how.averaging = 0.9;
  return how;
}

// What the training believes it earns, almost without smoothing, is what the mechanism earns.
TEST(AmaTariff, LearnsTheRevenueThatItWillEarn) {
  for (const char* text : {"2x2", "3x2 uniform(0,2)"}) {
    const Setting market = setting(text);
    Recipe how = small(market);
    how.iterations = 3;
    how.batch = 500;
    how.rate = how.final_rate = how.averaging = 0;
    how.final_temperature = 1e-6;
    how.temperature = 0.1;
    const auto training = trainer("ama-tariff", market, how, 4);
    training->advance(2);
    training->numbers();
    std::vector<double> values(500 * market.bidders() * 2);
    market.sample(4, kTrainingStream, 1000, 500, values.data());
    // Offers start at a fiftieth of the domain and smoothed by as much; the base does not learn.
    training->advance(1);
    Parameters start = fresh_ama_tariffs(
        kind(), market, tariff_size_for(market, how.hidden, how.width, how.tariffs), 4);
    double revenue = 0.0;
    for (const double payment : run(*make_mechanism(kind(), start), values).payments) {
      revenue += payment / 500;
    }
    EXPECT_NEAR(training->numbers().revenue, revenue, 0.06 * revenue) << text;
  }
}

// Stopped while the base learns, and while the offers do.
TEST(AmaTariff, GoesOnWithTheSameBits) {
  const Setting market = setting("2x2");
  const Recipe how = small(market);
  const auto whole = resumable_trainer("ama-tariff", market, how, 1);
  whole->advance(40);
  for (const int64_t at : {10, 30}) {
    const auto first = resumable_trainer("ama-tariff", market, how, 1);
    first->advance(at);
    TensorFile file;
    file.path = "memory";
    file.tensors = first->state();
    const auto second = resumable_trainer("ama-tariff", market, how, 1);
    second->restore(file);
    second->advance(40 - at);
    const Parameters found = second->mechanism()->parameters();
    for (const auto& [name, tensor] : whole->mechanism()->parameters().tensors) {
      EXPECT_EQ(found.tensors.at(name).values, tensor.values) << name;
    }
  }
}

}  // namespace
}  // namespace agora::auctions

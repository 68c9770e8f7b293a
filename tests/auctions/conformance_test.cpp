// What every mechanism of the registry must do, on the setting it names for this.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "auctions/mechanism.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "made.h"
#include "support/scratch.h"

namespace agora::auctions {
namespace {

struct Trial {
  Setting market;
  std::unique_ptr<Mechanism> mechanism;
  std::vector<double> values;
  Outcome outcome;
};

constexpr int kProfiles = 400;

Trial trial_of(const MechanismKind& kind) {
  Setting market = setting(kind.trial_setting);
  std::vector<double> values(kProfiles * market.bidders() * market.items());
  market.sample(11, kEvaluationStream, 0, kProfiles, values.data());
  auto mechanism = kind.network ? untrained(kind, market, 2, 8, 3)
                                : exact(kind.name, market, {.arguments = trial_arguments(kind)});
  Outcome outcome = run(*mechanism, values);
  return {market, std::move(mechanism), std::move(values), std::move(outcome)};
}

class Conformance : public ::testing::TestWithParam<MechanismKind> {};

TEST_P(Conformance, IsFeasibleRationalAndNeverPays) {
  const Trial trial = trial_of(GetParam());
  const int n = trial.market.bidders(), m = trial.market.items();
  for (int k = 0; k < kProfiles; ++k) {
    for (int j = 0; j < m; ++j) {
      double given = 0.0;
      for (int i = 0; i < n; ++i) {
        const double share = trial.outcome.allocation[(k * n + i) * m + j];
        EXPECT_GE(share, 0.0);
        given += share;
      }
      EXPECT_LE(given, 1.0 + 1e-9);
    }
    for (int i = 0; i < n; ++i) {
      double value = 0.0;
      for (int j = 0; j < m; ++j) {
        const int cell = (k * n + i) * m + j;
        value += trial.values[cell] * trial.outcome.allocation[cell];
      }
      EXPECT_GE(trial.outcome.payments[k * n + i], 0.0);
      EXPECT_LE(trial.outcome.payments[k * n + i], value + 1e-9);
    }
  }
}

TEST_P(Conformance, GivesEveryProfileTheSameAloneAndInABatch) {
  const Trial trial = trial_of(GetParam());
  const int n = trial.market.bidders(), m = trial.market.items();
  std::vector<double> allocation(n * m), payments(n);
  for (int k = 0; k < kProfiles; k += 37) {
    trial.mechanism->run(1, n, m, trial.values.data() + k * n * m, allocation.data(),
                         payments.data());
    for (int e = 0; e < n * m; ++e) {
      EXPECT_EQ(allocation[e], trial.outcome.allocation[k * n * m + e]);
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(payments[i], trial.outcome.payments[k * n + i]);
  }
}

TEST_P(Conformance, IsTheSameAfterSavingAndLoading) {
  const Trial trial = trial_of(GetParam());
  for (const char* ending : {"safetensors", "json"}) {
    const std::string file =
        (std::filesystem::path(::testing::TempDir()) / fmt::format("m{}.{}", getpid(), ending))
            .string();
    save(*trial.mechanism, file);
    const auto loaded = load(file);
    EXPECT_EQ(loaded->name(), GetParam().name);
    const Outcome again = run(*loaded, trial.values);
    EXPECT_EQ(again.allocation, trial.outcome.allocation);
    EXPECT_EQ(again.payments, trial.outcome.payments);
    std::filesystem::remove(file);
  }
}

// Bids to try against bidder i's truth: a grid over the domain, or the atoms of a discrete one.
std::vector<std::vector<double>> deviations(const Setting& market, int bidder) {
  std::vector<std::vector<double>> result{{}};
  for (int j = 0; j < market.items(); ++j) {
    std::vector<double> candidates;
    for (const Atom& atom : laws_of(market).rows[bidder]->marginals()[j]->atoms()) {
      candidates.push_back(atom.value);
    }
    const Interval range = market.search_domain(bidder, j);
    const int steps = market.items() > 2 ? 4 : 12;
    for (int s = 0; s <= steps && laws_of(market).rows[bidder]->marginals()[j]->atoms().empty();
         ++s) {
      candidates.push_back(range.low + (range.high - range.low) * s / steps);
    }
    std::vector<std::vector<double>> next;
    for (const auto& start : result) {
      for (double candidate : candidates) {
        next.push_back(start);
        next.back().push_back(candidate);
      }
    }
    result = std::move(next);
  }
  return result;
}

TEST_P(Conformance, LeavesNothingToGainByLying) {
  if (!GetParam().truthful) GTEST_SKIP() << "does not claim to be truthful";
  const Trial trial = trial_of(GetParam());
  const int n = trial.market.bidders(), m = trial.market.items();
  double largest = 0.0;
  for (int i = 0; i < n; ++i) {
    const auto tries = deviations(trial.market, i);
    std::vector<double> bids;
    for (int k = 0; k < 60; ++k) {
      const double* truth = trial.values.data() + k * n * m;
      bids.clear();
      for (const auto& lie : tries) {
        bids.insert(bids.end(), truth, truth + n * m);
        std::copy(lie.begin(), lie.end(), bids.end() - n * m + i * m);
      }
      const Outcome outcome = run(*trial.mechanism, bids);
      double honest = -trial.outcome.payments[k * n + i];
      for (int j = 0; j < m; ++j) {
        const int cell = (k * n + i) * m + j;
        honest += trial.values[cell] * trial.outcome.allocation[cell];
      }
      for (size_t t = 0; t < tries.size(); ++t) {
        double utility = -outcome.payments[t * n + i];
        for (int j = 0; j < m; ++j) {
          utility += truth[i * m + j] * outcome.allocation[(t * n + i) * m + j];
        }
        largest = std::max(largest, utility - honest);
      }
    }
  }
  EXPECT_LE(largest, 1e-12);
}

// A bid beside which all others vanish buys nothing cheaper: what a bidder pays is no sum with its
// own bids in it.
TEST_P(Conformance, LeavesNothingToGainByBidsBeyondAllValues) {
  if (!GetParam().truthful) GTEST_SKIP() << "does not claim to be truthful";
  const Trial trial = trial_of(GetParam());
  const int n = trial.market.bidders(), m = trial.market.items();
  double largest = 0.0;
  for (const double beyond : {1e9, 1e17, 1e300}) {
    for (int i = 0; i < n; ++i) {
      for (int mask = 1; mask < std::min(1 << m, 1 << 6); ++mask) {
        std::vector<double> bids = trial.values;
        for (int cell = 0; cell < kProfiles * n * m; ++cell) {
          if (cell / m % n == i && (mask >> (cell % m) & 1) != 0) bids[cell] = beyond;
        }
        const Outcome lied = run(*trial.mechanism, bids);
        for (int k = 0; k < kProfiles; ++k) {
          double gain = trial.outcome.payments[k * n + i] - lied.payments[k * n + i];
          for (int j = 0; j < m; ++j) {
            const int cell = (k * n + i) * m + j;
            gain += trial.values[cell] * (lied.allocation[cell] - trial.outcome.allocation[cell]);
          }
          largest = std::max(largest, gain);
        }
      }
    }
  }
  EXPECT_LE(largest, 1e-12);
}

// Nobody is told something that goes unheard.
TEST_P(Conformance, RefusesTheParametersOfOthers) {
  const MechanismKind& kind = GetParam();
  const Setting market = setting(kind.trial_setting);
  for (const MechanismKind& other : mechanisms()) {
    for (const Parameter& each : other.parameters) {
      EXPECT_TRUE(each.preset.value_or(each.low) >= each.low &&
                  each.preset.value_or(0) <= each.high)
          << other.name << " " << each.name;
      if (kind.network || find(kind.parameters, each.name) != nullptr) continue;
      expect_user_error(
          [&] {
            exact(kind.name, market, {.arguments = {{each.name, 1}}});
          },
          {kind.name + " takes no '" + each.name + "'"});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, Conformance, ::testing::ValuesIn(mechanisms()),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace agora::auctions

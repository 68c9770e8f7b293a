// The strong test against an exhaustive search, on networks with random weights.
#include <gtest/gtest.h>

#include <algorithm>

#include "auctions/audit/audit.h"
#include "auctions/audit/search.h"
#include "auctions/network.h"

namespace agora::auctions {
namespace {

// Weights several times as large as before training bend the utility into hills and valleys.
std::unique_ptr<Mechanism> rugged(const std::string& name, const Setting& market, double scale,
                                  uint64_t seed) {
  const MechanismKind& kind = mechanism_kind(name);
  Parameters parameters = untrained(kind, market, 2, 16, seed)->parameters();
  for (auto& [tensor, content] : parameters.tensors) {
    if (tensor.starts_with("scale.") || tensor.ends_with("bias")) continue;
    for (double& value : content.values) value *= scale;
  }
  return kind.make(parameters);
}

// Every bid of a grid; then, around each of the best ones, finer and finer grids.
double exhaustive_gain(const Mechanism& mechanism, const Setting& market, int bidder,
                       const double* values) {
  constexpr int kGrid = 41, kFine = 9, kRefined = 12, kLevels = 5;
  Probe probe(mechanism, market, bidder, values);
  std::vector<double> utility;
  Bids bids;
  bids.add(0, probe.truth(0), 2);
  probe.utility(bids, utility);
  const double honest = utility[0];
  Best best{utility, bids.rows};
  const auto look = [&](Best& at, const Bids& where) {
    probe.utility(where, utility);
    at.take(where, utility);
  };
  Bids grid;
  for (int k = 0; k < kGrid * kGrid; ++k) {
    const double bid[] = {k / kGrid / (kGrid - 1.0), k % kGrid / (kGrid - 1.0)};
    grid.add(0, bid, 2);
  }
  look(best, grid);
  const Bids starts = best_starts(grid, utility, 2, kRefined);
  for (int s = 0; s < kRefined; ++s) {
    Best local{{-1e9}, {starts.rows[2 * s], starts.rows[2 * s + 1]}};
    double reach = 1.0 / (kGrid - 1);
    for (int level = 0; level < kLevels; ++level, reach *= 0.3) {
      Bids fine;
      for (int k = 0; k < kFine * kFine; ++k) {
        const double dx = reach * (2.0 * (k / kFine) / (kFine - 1) - 1);
        const double dy = reach * (2.0 * (k % kFine) / (kFine - 1) - 1);
        const double bid[] = {std::clamp(local.bid[0] + dx, 0.0, 1.0),
                              std::clamp(local.bid[1] + dy, 0.0, 1.0)};
        fine.add(0, bid, 2);
      }
      look(local, fine);
    }
    best.take({local.bid, {0}}, local.utility);
  }
  return best.utility[0] - honest;
}

struct Trial {
  std::string mechanism, setting;
  double scale;
};
class Exhaustive : public ::testing::TestWithParam<Trial> {};

TEST_P(Exhaustive, StrongTestIsWithinFivePercent) {
  const Setting market = setting(GetParam().setting);
  const auto mechanism = rugged(GetParam().mechanism, market, GetParam().scale, 5);
  const int profiles = 12, n = market.bidders();
  double expected = 0;
  std::vector<double> values(n * 2);
  for (int k = 0; k < profiles; ++k) {
    market.sample(0, kEvaluationStream, k, 1, values.data());
    for (int i = 0; i < n; ++i) {
      expected += exhaustive_gain(*mechanism, market, i, values.data()) / (profiles * n);
    }
  }
  const RegretTest strong = strong_regret(*mechanism, market, {.regret_profiles = profiles});
  ASSERT_GT(expected, 1e-3);
  EXPECT_GE(strong.mean, 0.95 * expected);
  EXPECT_LE(strong.mean, 1.01 * expected);  // the judge is no worse
}

INSTANTIATE_TEST_SUITE_P(Networks, Exhaustive,
                         ::testing::Values(Trial{"regretnet", "1x2", 6},
                                           Trial{"regretnet", "2x2", 1},
                                           Trial{"regretnet", "2x2", 6},
                                           Trial{"equivariantnet", "2x2", 4},
                                           Trial{"algnet", "2x2", 6}));

}  // namespace
}  // namespace agora::auctions

#include "planning/path_sums.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "planning/test_models.h"
#include "support/scratch.h"

namespace agora::planning {
namespace {

const std::vector<std::string> kMethods = {"z", "z-power", "z-gauss-seidel", "z-linear"};
constexpr double kBetas[] = {0.0, 1e-3, 1.0, 30.0, 300.0, 600.0, 1e3, 1e4, 1e6};

// Shapes of models with n states; the last one is an end.
enum class Shape { kLine, kGrid, kMaze, kDag, kDigraph, kParallel, kCount };

struct Draw {
  Rng rng;
  double size;      // of rewards
  bool both_signs;  // else every step costs
  bool same;        // one reward for all steps

  double reward() {
    if (same) return -size;
    const double cost = size * rng.uniform(0.1, 1.0);
    return both_signs && rng.uniform(0.0, 1.0) < 0.3 ? cost : -cost;
  }
};

Model random_model(Shape shape, uint64_t seed, State n, double size, bool both_signs, bool same) {
  Draw draw{Rng(seed, static_cast<uint64_t>(shape)), size, both_signs, same};
  Rng& rng = draw.rng;
  ModelBuilder builder;
  const auto any = [&](State below) {
    return static_cast<State>(rng.below(static_cast<uint32_t>(below)));
  };
  const State width = static_cast<State>(std::ceil(std::sqrt(n)));
  for (State s = 0; s + 1 < n; ++s) {
    Action a = 0;
    const auto add = [&](State next) { builder.add(s, a++, next, 1.0, draw.reward()); };
    switch (shape) {
      case Shape::kLine:
        add(s + 1);
        add(std::max(0, s - 1));
        break;
      case Shape::kGrid:
      case Shape::kMaze:
        for (const State next : {s + 1, s + width, s - 1, s - width}) {
          const bool wall = shape == Shape::kMaze && rng.uniform(0.0, 1.0) < 0.3 && next != s + 1;
          add(next < 0 || next >= n || wall ? s : next);
        }
        break;
      case Shape::kDag:
        for (int k = 0; k < 3; ++k) add(s + 1 + any(n - s - 1));
        break;
      case Shape::kDigraph:
        add(s + 1);
        for (int k = 0; k < 3; ++k) add(any(n));
        break;
      case Shape::kParallel:
        for (int k = 0; k < 3; ++k) add(s + 1);
        for (int k = 0; k < 2; ++k) add(s);
        add(any(n));
        break;
      case Shape::kCount:
        break;
    }
  }
  builder.terminal_reward(n - 1, same ? 0.0 : draw.reward());
  return builder.build();
}

// The largest mu for which Z exists, to 1e-9 of its size; infinity if it exists for all.
double critical_mu(const Model& model, double beta) {
  const double span =
      beta * std::max(std::abs(model.rewards().min()), std::abs(model.rewards().max())) + 10.0;
  double low = -2.0 * span, high = 2.0 * span;
  if (sum_over_paths(model, beta, high)) return INFINITY;
  for (int k = 0; k < 200 && high - low > 1e-9 * (1.0 + std::abs(low)); ++k) {
    const double middle = 0.5 * (low + high);
    (sum_over_paths(model, beta, middle) ? low : high) = middle;
  }
  return low;
}

void expect_right(const Model& model, double beta, double mu, const std::string& method,
                  const PathSums& truth, double relative) {
  Solution found;
  try {
    found = PartitionFunction{.beta = beta, .mu = mu, .tolerance = 1e-9, .method = method}(model);
  } catch (const UserError& error) {
    FAIL() << method << " beta " << beta << " mu " << mu << ": " << error.what();
  }
  double value_scale = 1.0;  // a value near zero may be a difference of large ones
  for (const double v : truth.value) {
    if (!std::isinf(v)) value_scale = std::max(value_scale, std::abs(v));
  }
  ASSERT_TRUE(std::isfinite(found.bound)) << method;
  for (size_t s = 0; s < truth.log_z.size(); ++s) {
    if (std::isinf(truth.log_z[s])) {
      ASSERT_EQ(found.log_z[s], -INFINITY) << method << " state " << s;
      continue;
    }
    const double log_z_off = std::abs(found.log_z[s] - truth.log_z[s]);
    const double value_off = std::abs(found.value[s] - truth.value[s]);
    ASSERT_LE(log_z_off, relative * (1.0 + std::abs(truth.log_z[s])))
        << method << " beta " << beta << " mu " << mu << " state " << s;
    ASSERT_LE(value_off, relative * value_scale)
        << method << " beta " << beta << " mu " << mu << " state " << s;
    ASSERT_LE(log_z_off, found.bound) << method << " beta " << beta << " mu " << mu;
    ASSERT_LE(value_off, found.bound) << method << " beta " << beta << " mu " << mu;
  }
}

void expect_divergence(const Model& model, double beta, double mu, const std::string& method) {
  std::string error = "an answer";
  try {
    PartitionFunction{.beta = beta, .mu = mu, .method = method}(model);
  } catch (const UserError& refused) {
    error = refused.what();
  }
  EXPECT_NE(error.find("Z diverges"), std::string::npos)
      << method << " beta " << beta << " mu " << mu << ": " << error;
}

class RightAtEveryBeta : public ::testing::TestWithParam<Shape> {
  void SetUp() override { set_default_threads(1); }  // models are tiny
  void TearDown() override { set_default_threads(hardware_threads()); }
};

TEST_P(RightAtEveryBeta, FarAndNearTheCriticalMu) {
  uint64_t seed = 1;
  for (const double beta : kBetas) {
    for (const double size : {1e-3, 1.0, 400.0, 1e5}) {
      for (const int kind : {0, 1, 2}) {  // both signs, costs only, one reward
        ++seed;
        const Model model = random_model(GetParam(), seed, 8 + static_cast<State>(seed % 9), size,
                                         kind == 0, kind == 2);
        const double critical = critical_mu(model, beta);
        const double highest = std::isinf(critical) ? 0.5 : critical;
        for (const double below : {20.0, 1.0, 0.01}) {
          const double mu = highest - below;
          const auto truth = sum_over_paths(model, beta, mu);
          if (!truth || mu == highest) continue;  // below the spacing of numbers at that size
          for (const std::string& method : kMethods) {
            SCOPED_TRACE(::testing::Message() << "seed " << seed << " size " << size << " kind "
                                              << kind << " below " << below);
            expect_right(model, beta, mu, method, *truth, 1e-8);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(RightAtEveryBeta, NoAnswerAboveTheCriticalMu) {
  uint64_t seed = 1000;
  for (const double beta : kBetas) {
    for (const double size : {1.0, 400.0}) {
      const Model model = random_model(GetParam(), ++seed, 12, size, true, false);
      const double critical = critical_mu(model, beta);
      if (std::isinf(critical)) continue;
      for (const double above : {1e-2, 1.0, 50.0}) {
        const double mu = critical + above;
        if (sum_over_paths(model, beta, mu - 0.5 * above)) continue;  // numbers are not as dense
        SCOPED_TRACE(::testing::Message()
                     << "seed " << seed << " size " << size << " above " << above);
        for (const std::string& method : kMethods) expect_divergence(model, beta, mu, method);
      }
    }
  }
}

// Larger digraphs against dense elimination, which works for Z itself at these weights.
TEST(PartitionFunction, DigraphsAsFarAsTheCriticalMu) {
  set_default_threads(1);
  for (const State n : {200, 400}) {
    for (const uint64_t seed : {1u, 2u, 3u}) {
      const Model model = random_model(Shape::kDigraph, seed, n, 1.0, seed == 2, false);
      const Eigen::Index unknown = n - 1;
      Eigen::MatrixXd w = Eigen::MatrixXd::Zero(unknown, unknown), slope = w;  // at mu = 0
      Eigen::VectorXd b = Eigen::VectorXd::Zero(unknown), b_slope = b;
      const double last = model.terminal_reward(n - 1);
      for (State s = 0; s + 1 < n; ++s) {
        for (Action a = 0; a < model.actions(); ++a) {
          const auto t = model.transition(s, a, 0);
          if (t.next == n - 1) {
            b[s] += std::exp(t.reward + last);
            b_slope[s] += (t.reward + last) * std::exp(t.reward + last);
          } else {
            w(s, t.next) += std::exp(t.reward);
            slope(s, t.next) += t.reward * std::exp(t.reward);
          }
        }
      }
      Eigen::VectorXd x = Eigen::VectorXd::Ones(unknown);
      double radius = 0.0;
      for (int k = 0; k < 400; ++k) {
        x = 0.5 * (x + w * x / std::max(radius, 1.0));
        radius = (w * x).norm() / x.norm();
        x.normalize();
      }
      const double critical = -std::log(radius);
      for (const double below : {0.5, 0.1, 0.01, 0.002}) {
        const double factor = std::exp(critical - below);
        const Eigen::PartialPivLU<Eigen::MatrixXd> lu(Eigen::MatrixXd::Identity(unknown, unknown) -
                                                      factor * w);
        const Eigen::VectorXd z = lu.solve(factor * b);
        const Eigen::VectorXd dz = lu.solve(factor * (b_slope + slope * z));
        ASSERT_GT(z.minCoeff(), 0.0);
        for (const std::string& method : kMethods) {
          const Solution found = PartitionFunction{
              .beta = 1.0, .mu = critical - below, .tolerance = 1e-7, .method = method}(model);
          for (State s = 0; s + 1 < n; ++s) {
            ASSERT_NEAR(found.log_z[static_cast<size_t>(s)], std::log(z[s]), 1e-6)
                << method << " n " << n << " seed " << seed << " below " << below;
            ASSERT_NEAR(found.value[static_cast<size_t>(s)], dz[s] / z[s],
                        1e-6 * (1.0 + std::abs(dz[s] / z[s])))
                << method << " n " << n << " seed " << seed << " below " << below;
          }
        }
      }
      for (const std::string& method : kMethods) {
        for (const double above : {0.3, 0.002}) {
          expect_divergence(model, 1.0, critical + above, method);
        }
      }
    }
  }
  set_default_threads(hardware_threads());
}

// Only best paths count at beta = infinity; on an empty map they are binomial coefficients.
TEST(PartitionFunction, CountsTheBestPathsOfALargeMap) {
  constexpr State kSide = 300;
  std::string map;
  for (State row = 0; row < kSide; ++row) {
    std::string cells(kSide, '.');
    if (row == 0) cells.front() = 'S';
    if (row == kSide - 1) cells.back() = 'G';
    map += cells + '\n';
  }
  const Scratch scratch;
  write_atomically(scratch / "empty.map", map);
  const Model model = load(scratch / "empty.map");
  const double mu = -1.5, steps = 2.0 * (kSide - 1);
  const Solution found = PartitionFunction{.beta = INFINITY, .mu = mu}(model);
  const double paths = std::lgamma(steps + 1.0) - 2.0 * std::lgamma(kSide);
  EXPECT_EQ(start_value(model, found), -steps);
  EXPECT_NEAR(start_log_z(model, found), mu * steps + paths, 1e-9);
  EXPECT_NEAR(found.policy(model.start()[0].state, model.find_action("right")), 0.5, 1e-9);
}

TEST(PartitionFunction, ALittleMoreIsNotATie) {
  for (const double more : {1e-4, 1e-9, 0.0}) {
    ModelBuilder builder;
    builder.add(0, 0, 1, 1.0, -1e6);
    builder.add(0, 1, 1, 1.0, -1e6 - more);
    const Model model = builder.build();
    const Solution found = PartitionFunction{.beta = INFINITY, .mu = -1.0}(model);
    EXPECT_EQ(found.policy(0, 0), more > 0.0 ? 1.0 : 0.5) << more;
  }
  // Sums of decimals that are equal but for rounding are.
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, -0.1);
  builder.add(1, 0, 2, 1.0, -0.2);
  builder.add(0, 1, 3, 1.0, -0.15);
  builder.add(3, 0, 2, 1.0, -0.15);
  const Model model = builder.build();
  EXPECT_EQ((PartitionFunction{.beta = INFINITY, .mu = -1.0}(model).policy(0, 0)), 0.5);
}

TEST(PartitionFunction, BestPathsWithFreeStepsAndGains) {
  // 0 -> 1 costs 2, 1 -> 2 gains 1; 0 -> 2 costs 1; a free step back and forth between 0 and 3.
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, -2.0);
  builder.add(1, 0, 2, 1.0, 1.0);
  builder.add(0, 1, 2, 1.0, -1.0);
  builder.add(0, 2, 3, 1.0, 0.0);
  builder.add(3, 0, 0, 1.0, 0.0);
  const Model model = builder.build();
  const double e = std::exp(-1.0);
  for (const std::string& method : kMethods) {
    const Solution found = PartitionFunction{.beta = INFINITY, .mu = -1.0, .method = method}(model);
    EXPECT_EQ(found.value[0], -1.0) << method;
    EXPECT_NEAR(found.log_z[0], std::log((e + e * e) / (1.0 - e * e)), 1e-9) << method;
  }
  ModelBuilder gaining;
  gaining.add(0, 0, 1, 1.0, -1.0);
  gaining.add(1, 0, 0, 1.0, 1.5);
  gaining.add(1, 1, 2, 1.0, 0.0);
  const Model loop = gaining.build();
  EXPECT_THROW((PartitionFunction{.beta = INFINITY, .mu = -9.0}(loop)), UserError);
}

std::string name_of(const ::testing::TestParamInfo<Shape>& info) {
  const char* const names[] = {"Line", "Grid", "Maze", "Dag", "Digraph", "ParallelAndLoops"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Shapes, RightAtEveryBeta,
                         ::testing::Values(Shape::kLine, Shape::kGrid, Shape::kMaze, Shape::kDag,
                                           Shape::kDigraph, Shape::kParallel),
                         name_of);

}  // namespace
}  // namespace agora::planning

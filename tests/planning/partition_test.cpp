#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/thread_pool.h"
#include "planning/solver.h"
#include "planning/test_models.h"

namespace agora::planning {
namespace {

const std::vector<std::string> kMethods = {"z", "z-power", "z-gauss-seidel", "z-linear"};

Solution z(const Model& model, double beta, double mu, const std::string& method = "z",
           double tolerance = 1e-8) {
  return PartitionFunction{.beta = beta, .mu = mu, .tolerance = tolerance, .method = method}(model);
}

// Sum over all paths, one by one: (sum of weights, sum of weights times reward).
std::pair<double, double> enumerate(const Model& model, State s, double beta, double mu,
                                    double reward) {
  if (model.terminal(s)) {
    const double total = reward + model.terminal_reward(s);
    return {std::exp(beta * total), total * std::exp(beta * total)};
  }
  double sum = 0.0, weighted = 0.0;
  for (Action a = 0; a < model.actions(); ++a) {
    if (!model.has(s, a)) continue;
    const auto t = model.transition(s, a, 0);
    const auto [w, v] = enumerate(model, t.next, beta, mu, reward + t.reward);
    sum += std::exp(mu) * w;
    weighted += std::exp(mu) * v;
  }
  return {sum, weighted};
}

TEST(PartitionFunction, IsTheSumOverAllPathsOfRandomDags) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const Model model = random_dag(seed, 14, 3);
    for (const double beta : {0.0, 0.7, 2.5}) {
      for (const std::string& method : kMethods) {
        const Solution solution = z(model, beta, -0.3, method);
        for (State s = 0; s < model.states(); ++s) {
          const auto [sum, weighted] = enumerate(model, s, beta, -0.3, 0.0);
          EXPECT_NEAR(solution.log_z[static_cast<size_t>(s)], std::log(sum), 1e-8)
              << method << " seed " << seed << " state " << s;
          EXPECT_NEAR(solution.value[static_cast<size_t>(s)], weighted / sum, 1e-8)
              << method << " seed " << seed << " state " << s;
        }
        EXPECT_LE(solution.bound, 1e-8) << method;
      }
    }
  }
}

TEST(PartitionFunction, DecisionTreeAndItsLimits) {
  const Model tree = decision_tree();
  for (const std::string& method : kMethods) {
    const Solution warm = z(tree, 1.5, -1.0, method);
    const double e = std::exp(1.5);
    EXPECT_NEAR(warm.log_z[0], std::log(3 * e * std::exp(-2.0) + std::exp(-2.0)), 1e-12) << method;
    EXPECT_NEAR(warm.policy(0, 0), 2 * e / (3 * e + 1), 1e-12) << method;
    const Solution hot = z(tree, 0.0, -1.0, method);
    EXPECT_NEAR(hot.policy(0, 0), 1.0 / 2, 1e-12) << method;
    EXPECT_NEAR(hot.policy(0, 1), 1.0 / 4, 1e-12) << method;
    EXPECT_NEAR(hot.policy(0, 2), 1.0 / 4, 1e-12) << method;
    const Solution cold = z(tree, INFINITY, -1.0, method);
    EXPECT_NEAR(cold.policy(0, 0), 2.0 / 3, 1e-12) << method;
    EXPECT_NEAR(cold.policy(0, 1), 1.0 / 3, 1e-12) << method;
    EXPECT_EQ(cold.policy(0, 2), 0.0) << method;
    EXPECT_NEAR(cold.value[0], 1.0, 1e-12) << method;
  }
}

TEST(PartitionFunction, LargeBetaApproachesTheLimit) {
  const Model grid = benchmark_grid(20);
  const Solution limit = z(grid, INFINITY, -1.5), cold = z(grid, 60.0, -1.5);
  const Solution optimum = solve(grid, "vi", {.discount = 1.0});
  for (size_t s = 0; s < limit.value.size(); ++s) {
    EXPECT_EQ(limit.value[s], optimum.value[s]);
    if (std::isinf(limit.value[s])) continue;
    EXPECT_NEAR(cold.value[s], limit.value[s], 1e-6);
    EXPECT_NEAR(cold.log_z[s] - 60.0 * cold.value[s], limit.log_z[s], 1e-5);
    for (Action a = 0; a < 4; ++a) {
      EXPECT_NEAR(cold.policy(static_cast<State>(s), a), limit.policy(static_cast<State>(s), a),
                  1e-6);
    }
  }
}

TEST(PartitionFunction, ValueIsTheDerivativeAndWhatThePolicyEarns) {
  const Model grid = benchmark_grid(30);
  for (const double beta : {0.1, 1.0}) {
    const double h = 1e-4;
    const Solution at = z(grid, beta, -1.45, "z", 1e-10);
    const Solution above = z(grid, beta + h, -1.45, "z", 1e-10);
    const Solution below = z(grid, beta - h, -1.45, "z", 1e-10);
    const std::vector<double> earned = evaluate(grid, at.policy, 1.0);
    for (size_t s = 0; s < at.value.size(); ++s) {
      if (std::isinf(at.log_z[s])) continue;
      EXPECT_NEAR(at.value[s], (above.log_z[s] - below.log_z[s]) / (2 * h), 2e-3);
      EXPECT_NEAR(at.value[s], earned[s], 1e-6);
    }
  }
}

TEST(PartitionFunction, MethodsAgreeOnGridsWithAndWithoutEqualCosts) {
  ModelBuilder builder;  // a 12 x 12 grid whose cells cost 1 to 3
  for (State s = 0; s < 144; ++s) {
    if (s == 77) continue;
    const State row = s / 12, col = s % 12;
    const State to[4] = {row > 0 ? s - 12 : s, col < 11 ? s + 1 : s, row < 11 ? s + 12 : s,
                         col > 0 ? s - 1 : s};
    for (Action a = 0; a < 4; ++a) builder.add(s, a, to[a], 1.0, -1.0 - s % 3);
  }
  builder.terminal_reward(77, 2.0);
  const Model costs = builder.build(), grid = benchmark_grid(24);
  for (const Model* model : {&costs, &grid}) {
    for (const auto& [beta, mu] : {std::pair{1.0, -1.5}, {0.1, -1.4}, {0.0, -1.39}}) {
      const Solution reference = z(*model, beta, mu, "z-linear", 1e-9);
      for (const std::string& method : kMethods) {
        const Solution solution = z(*model, beta, mu, method, 1e-6);
        EXPECT_LE(solution.bound, 1e-6) << method << " beta " << beta;
        for (size_t s = 0; s < solution.log_z.size(); ++s) {
          if (std::isinf(reference.log_z[s])) continue;
          ASSERT_NEAR(solution.log_z[s], reference.log_z[s], 1e-6) << method << " beta " << beta;
          ASSERT_NEAR(solution.value[s], reference.value[s], 1e-6) << method << " beta " << beta;
        }
      }
    }
  }
}

TEST(PartitionFunction, PowerIterationContractsByTheAppendixRate) {
  const Model grid = benchmark_grid(15);
  const double mu = -1.6, rate = 4 * std::exp(mu);
  std::vector<double> changes;
  SolveOptions options{.beta = 0.0, .mu = mu, .tolerance = 1e-6};
  options.progress = [&](int64_t, double change) { changes.push_back(change); };
  solve(grid, "z-power", options);
  ASSERT_GT(changes.size(), 20u);
  for (size_t k = 1; k < changes.size() && changes[k] > 1e-13; ++k) {
    EXPECT_LE(changes[k], rate * changes[k - 1] * (1 + 1e-9)) << "sweep " << k;
  }
}

TEST(PartitionFunction, NothingUnderflowsAtStrongBeta) {
  const Model grid = benchmark_grid(300);
  const Solution solution = z(grid, 10.0, -1.5, "z", 1e-5);
  EXPECT_LE(solution.residual, 1e-10);
  double least = 0.0;
  for (size_t s = 0; s < solution.log_z.size(); ++s) {
    if (std::isinf(solution.log_z[s])) continue;
    least = std::min(least, solution.log_z[s]);
    double sum = grid.terminal(static_cast<State>(s)) ? 1.0 : 0.0;
    for (Action a = 0; a < 4; ++a) sum += solution.policy(static_cast<State>(s), a);
    ASSERT_NEAR(sum, 1.0, 1e-9);
  }
  EXPECT_LT(least, -3000.0);  // far below the least double
}

TEST(PartitionFunction, SameBitsForAnyNumberOfThreads) {
  const Model grid = benchmark_grid(80);
  const Solution one = (set_default_threads(1), z(grid, 0.3, -1.45));
  for (const int threads : {2, 3}) {
    set_default_threads(threads);
    const Solution other = z(grid, 0.3, -1.45);
    EXPECT_EQ(one.log_z, other.log_z);
    EXPECT_EQ(one.value, other.value);
    EXPECT_EQ(one.policy.probabilities, other.policy.probabilities);
  }
  set_default_threads(hardware_threads());
}

TEST(PartitionFunction, SweepOverBetaGivesTheSameAsSingleSolves) {
  const Model grid = benchmark_grid(40);
  const std::vector<double> betas = {0.0, 0.1, 0.3, 1.0, 3.0, INFINITY};
  const auto all = PartitionFunction{.mu = -1.5}.sweep(grid, betas);
  for (size_t k = 0; k < betas.size(); ++k) {
    const Solution single = z(grid, betas[k], -1.5);
    for (size_t s = 0; s < single.value.size(); ++s) {
      if (std::isinf(single.value[s])) continue;
      ASSERT_NEAR(all[k].value[s], single.value[s], 1e-6);
    }
  }
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// A long walk of free steps: the error of log Z is many times the residual.
TEST(PartitionFunction, AnEarlyAnswerIsWithinItsBound) {
  constexpr State kCells = 40;
  ModelBuilder builder;
  for (State s = 0; s + 1 < kCells; ++s) {
    builder.add(s, 0, std::max(s - 1, 0), 1.0, 0.0);
    builder.add(s, 1, s + 1, 1.0, 0.0);
  }
  builder.terminal_reward(kCells - 1, 0.0);
  const Model walk = builder.build();
  const double mu = -std::log(2.0) - 1e-3;
  const Solution truth = solve(walk, "z-linear", {.beta = 1.0, .mu = mu, .tolerance = 1e-9});
  const Solution early = solve(walk, "z-power", {.beta = 1.0, .mu = mu, .tolerance = 1.0});
  double error = 0.0;
  for (size_t s = 0; s < kCells; ++s) {
    error = std::max(error, std::abs(early.log_z[s] - truth.log_z[s]));
  }
  EXPECT_LE(error, early.bound);
  EXPECT_GT(error, 10 * early.residual);
}

TEST(PartitionFunction, MuIsALittleBelowTheLogarithmOfTheActions) {
  EXPECT_NEAR(solve(benchmark_grid(5, 1), "z", {.beta = 1.0}).mu, -std::log(4.0) - 0.1, 1e-15);
  EXPECT_NEAR(solve(decision_tree(), "z-variational", {.beta = 1.0}).mu, -std::log(3.0) - 0.1,
              1e-15);
}

TEST(PartitionFunction, SaysWhyItCannotBeSolved) {
  const Model grid = benchmark_grid(20);
  for (const std::string& method : kMethods) {
    const std::string error = error_of([&] { z(grid, 0.0, -0.5, method); });
    EXPECT_NE(error.find("diverges"), std::string::npos) << method << ": " << error;
    EXPECT_NE(error.find("mu = -1.486 works"), std::string::npos) << method << ": " << error;
  }
  ModelBuilder endless;
  endless.add(0, 0, 1, 1.0, -1.0);
  endless.add(1, 0, 0, 1.0, -1.0);
  const Model loop = endless.build();
  EXPECT_NE(error_of([&] { z(loop, 1.0, -1.0); }).find("no terminal state"), std::string::npos);
  ModelBuilder apart;
  apart.add(0, 0, 0, 1.0, -1.0);
  apart.terminal_reward(1, 0.0);
  EXPECT_NE(error_of([m = apart.build()] { z(m, 1.0, -1.0); }).find("start state '0' cannot reach"),
            std::string::npos);
}

TEST(PartitionFunction, ExistsAboveTheSufficientMuAndWarns) {
  const Model dag = random_dag(3, 12, 3);
  EXPECT_FALSE(z(dag, 1.0, 0.5).warnings.empty());
  EXPECT_TRUE(z(benchmark_grid(10), 1.0, -1.5).warnings.size() == 1);  // its discount
}

TEST(PartitionFunction, AStateThatCannotEndHasNoZ) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, -1.0);
  builder.add(0, 1, 2, 1.0, -1.0);
  builder.add(2, 0, 2, 1.0, -1.0);
  builder.terminal_reward(1, 0.0);
  const Model model = builder.build();
  const Solution solution = z(model, 1.0, -1.0);
  EXPECT_NEAR(solution.log_z[0], -2.0, 1e-12);
  EXPECT_EQ(solution.log_z[2], -INFINITY);
  EXPECT_EQ(solution.policy(0, 0), 1.0);
}

TEST(PartitionFunction, StartDistributionsAreAveraged) {
  Model tree = decision_tree();
  tree.set_start({{1, 0.25}, {3, 0.75}});
  const Solution solution = z(tree, 1.0, -1.0);
  EXPECT_NEAR(start_value(tree, solution), 0.25, 1e-12);
  EXPECT_NEAR(start_log_z(tree, solution), 0.25 * std::log(2 * std::exp(0.0)) + 0.75 * -1.0, 1e-12);
}

// Largest |log Z - log sum_a exp(beta R + mu + log Z')| over the states, from the model alone.
double log_residual(const Model& model, const Solution& solution) {
  double worst = 0.0;
  for (State s = 0; s < model.states(); ++s) {
    const double own = solution.log_z[static_cast<size_t>(s)];
    if (model.terminal(s) || own == -INFINITY) continue;
    double sum = 0.0;
    for (Action a = 0; a < model.actions(); ++a) {
      const auto t = model.transition(s, a, 0);
      sum += std::exp(solution.beta * t.reward + solution.mu +
                      solution.log_z[static_cast<size_t>(t.next)] - own);
    }
    worst = std::max(worst, std::abs(sum - 1.0));
  }
  return worst;
}

struct WeakDecay {
  double beta, mu;
};
constexpr WeakDecay kWeak[] = {{0.1, -1.4}, {0.0, -1.39}};

TEST(PartitionFunction, WeakDecayIsSolvedToTheSameResidual) {
  const Model model = benchmark_grid(120);
  for (const auto& [beta, mu] : kWeak) {
    const Solution found = solve(model, "z", {.beta = beta, .mu = mu});
    EXPECT_LE(found.residual, 1e-10) << beta;
    EXPECT_LE(log_residual(model, found), 1e-10) << beta;
    // A direct factorisation knows nothing of sweeps.
    const Solution linear = solve(model, "z-linear", {.beta = beta, .mu = mu});
    for (size_t s = 0; s < found.log_z.size(); ++s) {
      if (found.log_z[s] == -INFINITY) continue;
      ASSERT_NEAR(found.log_z[s], linear.log_z[s], 1e-6) << beta << ", state " << s;
      ASSERT_NEAR(found.value[s], linear.value[s], 2e-6 * (1.0 + std::abs(found.value[s]))) << beta;
    }
  }
}

TEST(PartitionFunction, KrylovSolvesBeyondTheDirectLimit) {
  const Model model = benchmark_grid(170);
  ASSERT_GT(model.states(), 20'000);
  for (const auto& [beta, mu] : kWeak) {
    const Solution linear = solve(model, "z-linear", {.beta = beta, .mu = mu, .tolerance = 1e-4});
    EXPECT_LE(log_residual(model, linear), 1e-10) << beta;
    const Solution found = solve(model, "z", {.beta = beta, .mu = mu, .tolerance = 1e-4});
    EXPECT_NEAR(start_log_z(model, linear), start_log_z(model, found), 1e-4) << beta;
    EXPECT_NEAR(start_value(model, linear), start_value(model, found), 2e-4) << beta;
  }
}

TEST(PartitionFunction, APositiveLoopDiverges) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, 2.0);
  builder.add(1, 0, 0, 1.0, 2.0);
  builder.add(1, 1, 2, 1.0, 0.0);
  const Model model = builder.build();
  EXPECT_NE(error_of([&] { z(model, 1.0, -1.0); }).find("Z diverges"), std::string::npos);
  EXPECT_NE(error_of([&] { solve(model, "vi"); }).find("gains reward for ever"), std::string::npos);
}

TEST(PartitionFunction, ProvesDivergenceOfLargeModels) {
  const Model grid = benchmark_grid(170);  // too large for a factorisation
  for (const std::string& method : kMethods) {
    for (const double mu : {-1.2, -1.38}) {
      const std::string error = error_of([&] { z(grid, 0.0, mu, method); });
      EXPECT_NE(error.find("Z diverges"), std::string::npos)
          << method << " " << mu << ": " << error;
    }
  }
}

// A line with weights e^(mu - 1) away from its end and e^mu towards it: the spectral radius is
// 2 e^(mu - .5), so that Z exists below mu = .5 - log 2, above the sufficient -log 2.
TEST(PartitionFunction, DivergesOnALineExactlyWhereItShould) {
  ModelBuilder builder;
  constexpr State kStates = 20'100;  // too many for a factorisation
  for (State s = 0; s + 1 < kStates; ++s) {
    if (s > 0) builder.add(s, 0, s - 1, 1.0, -1.0);
    builder.add(s, 1, s + 1, 1.0, 0.0);
  }
  const Model line = builder.build();
  const double critical = 0.5 - std::log(2.0);
  const std::string error = error_of([&] { z(line, 1.0, critical + 0.02); });
  EXPECT_NE(error.find("Z diverges"), std::string::npos) << error;
  // Z(s) = r^(end - s) with r = e^mu + e^(mu - 1) r^2, but for s near 0.
  const double mu = critical - 0.05, away = std::exp(mu - 1.0), towards = std::exp(mu);
  const double r = (1.0 - std::sqrt(1.0 - 4.0 * away * towards)) / (2.0 * away);
  const Solution found = z(line, 1.0, mu);
  EXPECT_NEAR(found.log_z[kStates / 2], (kStates - 1 - kStates / 2) * std::log(r), 1e-3);
}

TEST(PartitionFunction, WeightsBeyondDoublesAreNoProof) {
  // A chain: its one path exists whatever the rewards; exp(800) does not.
  ModelBuilder builder;
  constexpr State kStates = 20'100;
  for (State s = 0; s + 1 < kStates; ++s) {
    builder.add(s, 0, s + 1, 1.0, s % 2 == 0 ? 800.0 : -800.0);
  }
  const Model chain = builder.build();
  for (const std::string method : {"z", "z-linear"}) {
    const Solution found = z(chain, 1.0, -1e-3, method);
    EXPECT_NEAR(found.log_z[0], 800.0 - 1e-3 * (kStates - 1), 1e-6) << method;
  }
}

// Rows of more than four entries are kept in another layout.
TEST(PartitionFunction, BothLayoutsOfRowsGiveTheSame) {
  const auto build = [](Action extra) {
    ModelBuilder builder;
    for (State s = 0; s < 60; ++s) {
      for (Action a = 0; a < 4; ++a) {
        const State next = (7 * s + 13 * a + a * s % 5 + 1) % 60;
        builder.add(s, a, next == s || (s + a) % 9 == 0 ? 60 : next, 1.0, -1.0 - 0.1 * a);
      }
    }
    for (Action a = 0; a < extra; ++a) builder.add(61, a, 60, 1.0, -1.0);  // nobody goes there
    return builder.build();
  };
  const Model padded = build(4), packed = build(6);
  for (const std::string& method : kMethods) {
    const Solution a = z(padded, 0.7, -1.2, method), b = z(packed, 0.7, -1.2, method);
    for (size_t s = 0; s < 61; ++s) {
      EXPECT_NEAR(a.log_z[s], b.log_z[s], 1e-9) << method << " " << s;
      EXPECT_NEAR(a.value[s], b.value[s], 1e-6) << method << " " << s;
    }
  }
}

TEST(SlowPartitionFunction, AMillionCellsNeitherUnderflowNorKeepAResidual) {
  const Model model = benchmark_grid(1000);
  for (const auto& [beta, mu] : {WeakDecay{1.0, -1.5}, kWeak[0], kWeak[1]}) {
    const Solution found = solve(model, "z", {.beta = beta, .mu = mu, .tolerance = 1e-4});
    EXPECT_LE(found.residual, 1e-10) << beta;
    EXPECT_LE(log_residual(model, found), 1e-10) << beta;
    EXPECT_LE(found.bound, 1e-4) << beta;
    int64_t reached = 0;
    for (size_t s = 0; s < found.log_z.size(); ++s) {
      if (found.log_z[s] == -INFINITY) continue;
      ++reached;
      ASSERT_TRUE(std::isfinite(found.value[s])) << s;
    }
    EXPECT_GT(reached, 790'000);
    if (beta == 1.0) {
      EXPECT_LT(*std::min_element(found.log_z.begin(), found.log_z.end(),
                                  [](double a, double b) {
                                    return (a == -INFINITY ? 0.0 : a) < (b == -INFINITY ? 0.0 : b);
                                  }),
                -1500.0);  // far below what a double can hold as Z
    }
  }
}

}  // namespace
}  // namespace agora::planning

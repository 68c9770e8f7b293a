#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "planning/optimum/end_components.h"
#include "planning/solver.h"
#include "planning/test_models.h"

namespace agora::planning {
namespace {

// Few states, whole rewards of both signs, many of them zero, and dyadic probabilities: circles
// that cost nothing, that gain and that lose.
Model small_model(uint64_t seed, bool stochastic) {
  Rng rng(seed, 11);
  const State n = 5;
  const Action d = 2 + static_cast<Action>(rng.below(2));
  const auto reward = [&] {
    const double few[] = {0, 0, 0, 0, -1, -1, -2, 1};
    return few[rng.below(seed % 2 == 0 ? 8 : 7)];
  };
  ModelBuilder builder;
  builder.reserve(n + 2, d);
  for (State s = 0; s < n; ++s) {
    for (Action a = 0; a < d; ++a) {
      const auto any = [&] { return static_cast<State>(rng.below(static_cast<uint32_t>(n + 2))); };
      const double r = reward();
      if (!stochastic || rng.below(3) == 0) {
        builder.add(s, a, any(), 1.0, r);
      } else {
        const State first = any();
        State second = any();
        if (second == first) second = (first + 1) % (n + 2);
        const double p = rng.below(2) == 0 ? 0.5 : 0.25;
        builder.add(s, a, first, p, r);
        builder.add(s, a, second, 1.0 - p, r);
      }
    }
  }
  builder.terminal_reward(n, 1.0);
  builder.terminal_reward(n + 1, -3.0);
  return builder.build();
}

using Choice = std::vector<Action>;  // (states)

// (states) What following `choice` earns; -infinity where it may never end.
std::vector<double> earned(const Model& model, const Choice& choice) {
  const size_t n = static_cast<size_t>(model.states());
  std::vector<std::vector<char>> reach(n, std::vector<char>(n, 0));
  Eigen::MatrixXd p = Eigen::MatrixXd::Zero(model.states(), model.states());
  Eigen::VectorXd r = Eigen::VectorXd::Zero(model.states());
  for (State s = 0; s < model.states(); ++s) {
    reach[static_cast<size_t>(s)][static_cast<size_t>(s)] = 1;
    if (model.terminal(s)) {
      r[s] = model.terminal_reward(s);
      continue;
    }
    const Action a = choice[static_cast<size_t>(s)];
    for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
      const auto t = model.transition(s, a, i);
      p(s, t.next) += t.probability;
      r[s] += t.probability * t.reward;
      reach[static_cast<size_t>(s)][static_cast<size_t>(t.next)] = 1;
    }
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) reach[i][j] |= reach[i][k] && reach[k][j];
    }
  }
  const auto may_end = [&](size_t s) {
    for (const Terminal& end : model.terminals()) {
      if (reach[s][static_cast<size_t>(end.state)]) return true;
    }
    return false;
  };
  std::vector<char> ends(n, 1);
  for (size_t s = 0; s < n; ++s) {
    for (size_t t = 0; t < n; ++t) ends[s] &= !reach[s][t] || may_end(t);
  }
  for (State s = 0; s < model.states(); ++s) {
    if (ends[static_cast<size_t>(s)]) continue;
    p.row(s).setZero();
    r[s] = 0;
  }
  const Eigen::VectorXd v =
      (Eigen::MatrixXd::Identity(model.states(), model.states()) - p).fullPivLu().solve(r);
  std::vector<double> value(n);
  for (size_t s = 0; s < n; ++s) value[s] = ends[s] ? v[static_cast<Eigen::Index>(s)] : -INFINITY;
  return value;
}

// The best of all policies that end, nothing if a circle of states that could end gains.
std::optional<std::vector<double>> best_of_all(const Model& model) {
  std::vector<Choice> policies{Choice(static_cast<size_t>(model.states()), kNone)};
  for (State s = 0; s < model.states(); ++s) {
    if (model.terminal(s)) continue;
    std::vector<Choice> more;
    for (Choice choice : policies) {
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a)) continue;
        choice[static_cast<size_t>(s)] = a;
        more.push_back(choice);
      }
    }
    policies = std::move(more);
  }
  std::vector<double> best(static_cast<size_t>(model.states()), -INFINITY);
  for (const Choice& choice : policies) {
    const std::vector<double> value = earned(model, choice);
    for (size_t s = 0; s < best.size(); ++s) best[s] = std::max(best[s], value[s]);
  }
  // A gain for ever shows as an action that is better than the best of all policies.
  for (State s = 0; s < model.states(); ++s) {
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      double q = 0;
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const auto t = model.transition(s, a, i);
        q += t.probability * (t.reward + best[static_cast<size_t>(t.next)]);
      }
      if (q > best[static_cast<size_t>(s)] + 1e-9) return {};
    }
  }
  return best;
}

TEST(TotalReward, EveryMethodEarnsTheBestOfAllPoliciesThatEnd) {
  int answered = 0, gaining = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Model model = small_model(seed, seed % 4 >= 2);
    const auto best = best_of_all(model);
    if (best && (*best)[0] == -INFINITY) continue;  // the start cannot end
    for (const Solver& solver : solvers()) {
      if (solver.answer != Solver::Answer::kOptimum) continue;
      const std::string what = solver.name + ", seed " + std::to_string(seed);
      if (!best) {
        try {
          solve(model, solver.name);
          ADD_FAILURE() << what << " gave an answer";
        } catch (const UserError& error) {
          const std::string words = error.what();
          EXPECT_TRUE(words.find("gains reward for ever") != words.npos ||
                      words.find("cannot reach") != words.npos ||
                      words.find("a loop gains") != words.npos)
              << what << ": " << words;
        }
        ++gaining;
        continue;
      }
      const Solution solution = solve(model, solver.name);
      ++answered;
      EXPECT_LE(solution.bound, 1e-6) << what;
      const std::vector<double> own = earned(model, solution.policy.greedy);
      for (size_t s = 0; s < best->size(); ++s) {
        if ((*best)[s] == -INFINITY) {
          EXPECT_EQ(solution.value[s], -INFINITY) << what;
          continue;
        }
        EXPECT_NEAR(solution.value[s], (*best)[s], solution.bound + 1e-12) << what << ", " << s;
        EXPECT_NEAR(own[s], (*best)[s], 1e-6) << what << ", " << s;
      }
    }
  }
  EXPECT_GT(answered, 150);
  EXPECT_GT(gaining, 20);
}

TEST(TotalReward, AFreeCircleIsLeft) {
  // Waiting is free, leaving costs one: no policy that ends earns more than -1.
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, 0.0);
  builder.add(1, 0, 0, 1.0, 0.0);
  builder.add(1, 1, 2, 1.0, -1.0);
  builder.terminal_reward(2, 0.0);
  const Model model = builder.build();
  for (const Solver& solver : solvers()) {
    if (solver.answer != Solver::Answer::kOptimum) continue;
    const Solution solution = solve(model, solver.name);
    EXPECT_EQ(solution.value[0], -1.0) << solver.name;
    EXPECT_EQ(solution.policy.greedy[1], 1) << solver.name;
    EXPECT_LE(solution.bound, 1e-9) << solver.name;
  }
}

TEST(TotalReward, FrozenLakeHasABound) {
  for (const char* name : {"frozenlake4x4", "frozenlake4x4(slip=0)", "frozenlake8x8"}) {
    const Model model = load(name);
    for (const Solver& solver : solvers()) {
      if (solver.answer != Solver::Answer::kOptimum) continue;
      const Solution solution = solve(model, solver.name, {.discount = 1.0});
      EXPECT_LE(solution.bound, 1e-6) << solver.name << " on " << name;
      const std::vector<double> own = earned(model, solution.policy.greedy);
      for (size_t s = 0; s < own.size(); ++s) EXPECT_NEAR(own[s], solution.value[s], 1e-6);
    }
  }
  // Known since Gymnasium: 14/17 of the games on the small lake can be won.
  EXPECT_NEAR(solve(load("frozenlake4x4"), "vi", {.discount = 1.0}).value[0], 14.0 / 17.0, 1e-6);
}

TEST(TotalReward, EndComponentsAreTheSetsThatCanBeStayedIn) {
  ModelBuilder builder;  // 0 <-> 1, 1 may leak to 2; 2 stays or ends; 3 only passes
  builder.add(0, 0, 1, 1.0, 0.0);
  builder.add(1, 0, 0, 1.0, 0.0);
  builder.add(1, 1, 0, 0.5, 0.0);
  builder.add(1, 1, 2, 0.5, 0.0);
  builder.add(2, 0, 2, 1.0, 0.0);
  builder.add(2, 1, 4, 1.0, 0.0);
  builder.add(3, 0, 0, 0.5, 0.0);
  builder.add(3, 0, 3, 0.5, 0.0);
  builder.terminal_reward(4, 0.0);
  const Model model = builder.build();
  const ValueProblem problem = value_problem(model, {});
  const EndComponents parts = end_components(problem, [](State, Action) { return true; });
  EXPECT_EQ(parts.count, 3);
  EXPECT_EQ(parts.component[0], parts.component[1]);
  EXPECT_NE(parts.component[1], parts.component[2]);
  EXPECT_NE(parts.component[3], parts.component[0]);
  EXPECT_EQ(parts.component[4], -1);
  EXPECT_TRUE(parts.inside[static_cast<size_t>(model.row(1, 0))]);
  EXPECT_FALSE(parts.inside[static_cast<size_t>(model.row(1, 1))]);
  EXPECT_TRUE(parts.inside[static_cast<size_t>(model.row(2, 0))]);
  EXPECT_FALSE(parts.inside[static_cast<size_t>(model.row(3, 0))]);
}

}  // namespace
}  // namespace agora::planning

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/features.h"
#include "planning/solver.h"
#include "planning/test_models.h"

namespace agora::planning {
namespace {

std::map<std::string, Model> models() {
  std::map<std::string, Model> all;
  all.emplace("decision tree", decision_tree());
  all.emplace("grid", benchmark_grid(15));
  all.emplace("random dag", random_dag(4, 30, 3));
  all.emplace("random mdp", random_mdp(2, 40, 3, 0.9));
  all.emplace("slippery walk", slippery_walk(12, 0.2));
  return all;
}

TEST(Solvers, OptimalityMethodsAgreeOnEveryModel) {
  for (const auto& [name, model] : models()) {
    for (const double discount : {0.9, 1.0}) {
      const Solution reference = solve(model, "pi", {.discount = discount, .tolerance = 1e-9});
      for (const Solver& solver : solvers()) {
        if (solver.answer != Solver::Answer::kOptimum) continue;
        const Solution solution =
            solve(model, solver.name, {.discount = discount, .tolerance = 1e-6});
        EXPECT_LE(solution.bound, 1e-6) << solver.name << " on " << name;
        for (size_t s = 0; s < solution.value.size(); ++s) {
          if (std::isinf(reference.value[s])) {
            EXPECT_EQ(solution.value[s], reference.value[s]) << solver.name << " on " << name;
            continue;
          }
          ASSERT_NEAR(solution.value[s], reference.value[s], 1e-6)
              << solver.name << " on " << name << " discount " << discount << " state " << s;
        }
        // The greedy policy earns what was promised.
        const std::vector<double> earned = evaluate(model, solution.policy, discount);
        for (size_t s = 0; s < earned.size(); ++s) {
          if (std::isfinite(solution.value[s])) {
            ASSERT_NEAR(earned[s], solution.value[s], 1e-5) << solver.name << " on " << name;
          }
        }
      }
    }
  }
}

TEST(Solvers, PartitionFunctionsAgreeOnEveryModelTheyTake) {
  for (const auto& [name, model] : models()) {
    const Solution averaged = solve(model, "z-averaged", {.beta = 0.8, .mu = -1.6});
    const Solution variational = solve(model, "z-variational", {.beta = 0.8, .mu = -1.6});
    for (const Solver& solver : solvers()) {
      if (solver.answer != Solver::Answer::kPartitionFunction) continue;
      if (!model.is_deterministic() && !solver.stochastic) continue;
      if (solver.name == "z-petsc" && !AGORA_HAS_PETSC) continue;
      const bool is_averaged = solver.name.find("variational") == std::string::npos;
      const Solution& reference = model.is_deterministic() || is_averaged ? averaged : variational;
      const Solution solution = solve(model, solver.name, {.beta = 0.8, .mu = -1.6});
      if (solver.name != "z-variational-loss") {
        EXPECT_LE(solution.bound, 1e-6) << solver.name << " on " << name;
      }
      for (size_t s = 0; s < solution.log_z.size(); ++s) {
        if (std::isinf(reference.log_z[s])) continue;
        ASSERT_NEAR(solution.log_z[s], reference.log_z[s], 1e-6 + solution.bound)
            << solver.name << " on " << name << " state " << s;
      }
    }
  }
}

TEST(Solvers, SoftValuesAreLogZOnDeterministicModels) {
  const Model grid = benchmark_grid(15);
  const Solution soft = solve(grid, "soft-vi", {.beta = 2.0, .mu = -1.5, .discount = 1.0});
  const Solution z = solve(grid, "z", {.beta = 2.0, .mu = -1.5});
  for (size_t s = 0; s < z.log_z.size(); ++s) {
    if (std::isinf(z.log_z[s])) continue;
    EXPECT_NEAR(2.0 * soft.value[s], z.log_z[s], 1e-5);
  }
}

TEST(Solvers, SoftValueIterationSolvesItsEquation) {
  const Model model = random_mdp(5, 30, 3, 0.9);
  const double beta = 3.0;
  const Solution soft = solve(model, "soft-vi", {.beta = beta, .tolerance = 1e-9});
  for (State s = 0; s + 1 < model.states(); ++s) {
    double sum = 0.0;
    for (Action a = 0; a < model.actions(); ++a) {
      double q = 0.0;
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const auto t = model.transition(s, a, i);
        q += t.probability * (t.reward + 0.9 * soft.value[static_cast<size_t>(t.next)]);
      }
      sum += std::exp(beta * q);
    }
    EXPECT_NEAR(soft.value[static_cast<size_t>(s)], std::log(sum) / beta, 1e-8);
  }
}

TEST(Solvers, AveragedAndVariationalEquationsHold) {
  const Model model = slippery_walk(10, 0.3);
  const double beta = 0.7, mu = -1.2;
  const Solution averaged = solve(model, "z-averaged", {.beta = beta, .mu = mu});
  const Solution variational = solve(model, "z-variational", {.beta = beta, .mu = mu});
  for (State s = 0; s < 10; ++s) {
    double mean = 0.0, product = 0.0, joint = 0.0;
    for (Action a = 0; a < model.actions(); ++a) {
      double exponent = 0.0;
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const auto t = model.transition(s, a, i);
        const size_t next = static_cast<size_t>(t.next);
        mean += t.probability * std::exp(beta * t.reward + mu + averaged.log_z[next]);
        exponent += t.probability * (beta * t.reward + mu + variational.log_z[next]);
        joint += averaged.joint_policy[model.row_begin()[static_cast<size_t>(model.row(s, a))] +
                                       static_cast<size_t>(i)];
      }
      product += std::exp(exponent);
    }
    EXPECT_NEAR(averaged.log_z[static_cast<size_t>(s)], std::log(mean), 1e-9);
    EXPECT_NEAR(variational.log_z[static_cast<size_t>(s)], std::log(product), 1e-9);
    EXPECT_NEAR(joint, 1.0, 1e-9);
  }
}

TEST(Solvers, TheUnrealisticPolicyBetsAndNoPolicyBeatsTheOptimum) {
  const Model model = slippery_walk(10, 0.3);
  const Solution averaged = solve(model, "z-averaged", {.beta = 2.0, .mu = -1.2});
  const Solution variational = solve(model, "z-variational", {.beta = 2.0, .mu = -1.2});
  const Solution optimum = solve(model, "vi", {.discount = 1.0});
  for (size_t s = 0; s < 10; ++s) {
    EXPECT_GT(averaged.value[s], averaged.policy_value[s]);  // it believes in its luck
    EXPECT_LE(averaged.policy_value[s], optimum.value[s] + 1e-9);
    EXPECT_LE(variational.policy_value[s], optimum.value[s] + 1e-9);
    EXPECT_GT(variational.policy_value[s], averaged.policy_value[s]);
    EXPECT_NEAR(variational.value[s], variational.policy_value[s], 1e-12);
  }
}

std::string error_of(const Model& model, const std::string& method, SolveOptions options) {
  try {
    solve(model, method, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Solvers, RefuseWhatHasNoAnswer) {
  ModelBuilder gain;
  gain.add(0, 0, 1, 1.0, 1.0);
  gain.add(1, 0, 0, 1.0, -0.5);
  gain.add(1, 1, 2, 1.0, 0.0);
  gain.terminal_reward(2, 0.0);
  const Model loop = gain.build();
  ModelBuilder endless;
  endless.add(0, 0, 0, 1.0, -1.0);
  const Model no_end = endless.build();
  ModelBuilder trap;
  trap.add(0, 0, 1, 0.5, -1.0);
  trap.add(0, 0, 2, 0.5, -1.0);
  trap.add(1, 0, 1, 1.0, -1.0);
  trap.terminal_reward(2, 0.0);
  const Model trapped = trap.build();
  for (const Solver& solver : solvers()) {
    if (solver.answer != Solver::Answer::kOptimum) continue;
    EXPECT_NE(error_of(loop, solver.name, {.discount = 1.0}).find("gains reward for ever"),
              std::string::npos)
        << solver.name << ": " << error_of(loop, solver.name, {.discount = 1.0});
    EXPECT_EQ(error_of(loop, solver.name, {.discount = 0.9}), "") << solver.name;
    EXPECT_NE(error_of(no_end, solver.name, {}).find("discount below 1"), std::string::npos)
        << solver.name;
    EXPECT_NE(error_of(trapped, solver.name, {}).find("cannot reach a terminal state"),
              std::string::npos)
        << solver.name;
  }
  EXPECT_NE(error_of(no_end, "z-variatonal", {}).find("did you mean 'z-variational'"),
            std::string::npos);
  EXPECT_NE(error_of(trapped, "z", {}).find("takes deterministic models only"), std::string::npos);
  EXPECT_NE(error_of(no_end, "vi", {.tolerance = 0.0}).find("tolerance"), std::string::npos);
}

TEST(Solvers, EvaluationMatchesAClosedForm) {
  // One state that ends with probability p: value -1/p, discounted -1/(1 - g(1-p)).
  ModelBuilder builder;
  builder.add(0, 0, 1, 0.25, -1.0);
  builder.add(0, 0, 0, 0.75, -1.0);
  builder.terminal_reward(1, 0.0);
  const Model model = builder.build();
  EXPECT_NEAR(solve(model, "evaluate", {}).value[0], -4.0, 1e-9);
  EXPECT_NEAR(solve(model, "evaluate", {.discount = 0.5}).value[0], -1.0 / (1 - 0.375), 1e-9);
}

TEST(Solvers, TheDefaultFitsTheModel) {
  ModelBuilder endless;
  endless.add(0, 0, 0, 0.5, 1.0);
  endless.add(0, 0, 1, 0.5, 1.0);
  endless.add(1, 0, 0, 1.0, 0.0);
  endless.discount(0.5);
  const Model cycle = endless.build();
  EXPECT_EQ(default_method(decision_tree()), "z");
  EXPECT_EQ(default_method(benchmark_grid(8)), "modified-pi");  // discount .99
  EXPECT_EQ(default_method(benchmark_grid(8), {.mu = -1.5}), "z");
  EXPECT_EQ(default_method(slippery_walk(5, 0.1)), "z-variational");
  EXPECT_EQ(default_method(slippery_walk(5, 0.1), {.discount = 0.9}), "modified-pi");
  EXPECT_EQ(default_method(cycle), "modified-pi");
  // V0 = 1 + (V0 + V1) / 4, V1 = V0 / 2.
  EXPECT_NEAR(solve(cycle, "").value[0], 1.6, 1e-6);
  EXPECT_NE(error_of(cycle, "", {.discount = 1.0}).find("discount below 1"), std::string::npos);
}

// Coarse tolerances stop every method early: what it prints is then wrong, but not by more than it
// says.
TEST(Solvers, EarlyAnswersAreWithinTheirBounds) {
  for (const auto& [name, model] : models()) {
    for (const double discount : {0.5, 0.95, 1.0}) {
      const Solution truth = solve(model, "pi", {.discount = discount, .tolerance = 1e-12});
      for (const Solver& solver : solvers()) {
        if (solver.answer != Solver::Answer::kOptimum) continue;
        for (const double tolerance : {3.0, 1e-1, 1e-3}) {
          const Solution early =
              solve(model, solver.name, {.discount = discount, .tolerance = tolerance});
          EXPECT_LE(early.bound, tolerance) << solver.name << " on " << name;
          for (size_t s = 0; s < early.value.size(); ++s) {
            if (std::isinf(truth.value[s])) continue;
            ASSERT_NEAR(early.value[s], truth.value[s], early.bound + 1e-9)
                << solver.name << " on " << name << " discount " << discount;
          }
        }
      }
    }
  }
}

// A chain that nearly never ends: the largest error there is for a residual, and it is the bound.
TEST(Solvers, TheBoundIsReached) {
  ModelBuilder builder;
  builder.add(0, 0, 0, 1.0, 1.0);
  builder.discount(0.9);
  const Model model = builder.build();  // value 10
  const Solution early = solve(model, "vi", {.tolerance = 1.0});
  EXPECT_GT(early.bound, 0.0);
  EXPECT_NEAR(10.0 - early.value[0], early.bound, 1e-9);
  // One action has no entropy: soft values are the same.
  const Solution soft = solve(model, "soft-vi", {.beta = 2.0, .tolerance = 1.0});
  EXPECT_GT(soft.bound, 0.0);
  EXPECT_NEAR(10.0 - soft.value[0], soft.bound, 1e-9);
}

TEST(Solvers, NoAnswerThatIsNoneLeaves) {
  const Model model = slippery_walk(5, 0.1);
  const Solver& z = find_solver("z-variational");
  const Solution good = solve(model, z.name);
  EXPECT_NO_THROW(check_answer(model, z, good));
  const auto spoilt = [&](auto&& spoil) {
    Solution bad = good;
    spoil(bad);
    return bad;
  };
  const double nan = std::nan("");
  for (const Solution& bad :
       {spoilt([&](Solution& x) { x.value[3] = nan; }),
        spoilt([&](Solution& x) { x.log_z[0] = nan; }),
        spoilt([&](Solution& x) { x.residual = nan; }),
        spoilt([&](Solution& x) { x.residual = INFINITY; }),
        spoilt([&](Solution& x) { x.bound = nan; }), spoilt([&](Solution& x) { x.bound = -1.0; }),
        spoilt([&](Solution& x) { x.value.pop_back(); })}) {
    EXPECT_THROW(check_answer(model, z, bad), Error);
  }
  for (const Solution& bad : {spoilt([&](Solution& x) { x.value[0] = -INFINITY; }),
                              spoilt([&](Solution& x) { x.log_z[0] = -INFINITY; }),
                              spoilt([&](Solution& x) { x.value[2] = INFINITY; })}) {
    EXPECT_THROW(check_answer(model, z, bad), UserError);
  }
  EXPECT_NO_THROW(
      check_answer(model, z, spoilt([&](Solution& x) { x.log_z[4] = x.value[4] = -INFINITY; })));
  EXPECT_NO_THROW(check_answer(model, z, spoilt([&](Solution& x) { x.bound = INFINITY; })));
}

TEST(Solvers, RefuseRewardsThatCannotBeAddedUp) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, -1e90);
  builder.terminal_reward(1, 0.0);
  const Model model = builder.build();
  for (const Solver& solver : solvers()) {
    if (solver.name == "z-petsc" && !AGORA_HAS_PETSC) continue;
    const bool weighs = solver.answer == Solver::Answer::kPartitionFunction ||
                        solver.answer == Solver::Answer::kSoftValue;
    const std::string error = error_of(model, solver.name, {.beta = 1e215});
    EXPECT_EQ(error.find("too large to be added up") != std::string::npos, weighs)
        << solver.name << ": " << error;
  }
}

}  // namespace
}  // namespace agora::planning

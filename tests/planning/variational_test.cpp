#include <gtest/gtest.h>

#include <cmath>

#include "planning/solver.h"
#include "planning/test_models.h"
#include "planning/z/soft.h"

namespace agora::planning {
namespace {

using Real = long double;

// eq. variationalBellman by plain sweeps in long double until nothing moves any more.
std::vector<Real> log_z_by_sweeps(const Model& model, Real beta, Real mu) {
  std::vector<Real> l(static_cast<size_t>(model.states()), 0);
  for (const Terminal& end : model.terminals()) {
    l[static_cast<size_t>(end.state)] = beta * static_cast<Real>(end.reward);
  }
  Real change = 1;
  for (int sweep = 0; sweep < 200'000 && change > 1e-18L; ++sweep) {
    change = 0;
    for (State s = 0; s < model.states(); ++s) {
      if (model.terminal(s)) continue;
      Real sum = 0;
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a)) continue;
        Real exponent = mu;
        for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
          const auto t = model.transition(s, a, i);
          exponent += static_cast<Real>(t.probability) *
                      (beta * static_cast<Real>(t.reward) + l[static_cast<size_t>(t.next)]);
        }
        sum += std::exp(exponent);
      }
      change = std::max(change, std::abs(std::log(sum) - l[static_cast<size_t>(s)]));
      l[static_cast<size_t>(s)] = std::log(sum);
    }
  }
  return l;
}

// The derivative by beta: differences at h and 2h, combined to fourth order.
std::vector<Real> derivative(const Model& model, Real beta, Real mu) {
  const Real h = 2e-4L;
  const auto at = [&](int k) {
    return log_z_by_sweeps(model, beta + static_cast<Real>(k) * h, mu);
  };
  const auto far_below = at(-2), below = at(-1), above = at(1), far_above = at(2);
  std::vector<Real> d(below.size());
  for (size_t s = 0; s < d.size(); ++s) {
    d[s] = (8 * (above[s] - below[s]) - (far_above[s] - far_below[s])) / (12 * h);
  }
  return d;
}

std::vector<std::pair<std::string, Model>> models() {
  std::vector<std::pair<std::string, Model>> all;
  all.emplace_back("slippery walk", slippery_walk(10, 0.3));
  all.emplace_back("random mdp", random_mdp(3, 25, 3, 0.9));
  all.emplace_back("random dag", random_dag(4, 20, 3));
  all.emplace_back("grid", benchmark_grid(6));
  return all;
}

TEST(Variational, ValueIsTheDerivativeOfLogZWithinItsBound) {
  for (const auto& [name, model] : models()) {
    for (const double beta : {0.1, 0.7, 1.5, 4.0}) {
      const double mu = -1.6;
      const std::vector<Real> log_z = log_z_by_sweeps(model, beta, mu);
      const std::vector<Real> exact = derivative(model, beta, mu);
      for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-9}) {
        const Solution solution =
            solve(model, "z-variational", {.beta = beta, .mu = mu, .tolerance = tolerance});
        EXPECT_LE(solution.bound, tolerance) << name;
        for (size_t s = 0; s < exact.size(); ++s) {
          if (!std::isfinite(solution.log_z[s])) continue;
          const double slack = solution.bound + 1e-10;  // what the differences leave open
          ASSERT_NEAR(solution.log_z[s], static_cast<double>(log_z[s]), slack)
              << name << ", beta " << beta << ", tolerance " << tolerance;
          ASSERT_NEAR(solution.value[s], static_cast<double>(exact[s]), slack)
              << name << ", beta " << beta << ", tolerance " << tolerance;
        }
      }
    }
  }
}

TEST(Variational, PolicyIsThatOfItsLogZ) {
  const Model model = random_mdp(3, 25, 3, 0.9);
  const double beta = 1.5, mu = -1.6;
  for (const char* method : {"z-variational", "soft-vi"}) {
    const Solution solution =
        solve(model, method, {.beta = beta, .mu = mu, .discount = 1.0, .tolerance = 1e-2});
    const std::vector<double>& v = solution.value;
    for (State s = 0; s + 1 < model.states(); ++s) {
      double sum = 0.0;
      std::vector<double> weight;
      for (Action a = 0; a < model.actions(); ++a) {
        double exponent = mu;
        for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
          const auto t = model.transition(s, a, i);
          const size_t next = static_cast<size_t>(t.next);
          const double l = solution.log_z.empty() ? beta * v[next] : solution.log_z[next];
          exponent += t.probability * (beta * t.reward + l);
        }
        weight.push_back(std::exp(exponent));
        sum += weight.back();
      }
      for (Action a = 0; a < model.actions(); ++a) {
        EXPECT_NEAR(solution.policy(s, a), weight[static_cast<size_t>(a)] / sum, 1e-12) << method;
      }
    }
  }
}

// Log Z off by up to `error`, up or down by chance: no step is worth more or less by more than
// said.
TEST(Variational, APolicyIsOffByNoMoreThanItsBound) {
  for (const auto& [name, model] : models()) {
    constexpr double kMu = -1.6;
    SolveOptions options;
    options.discount = 1.0;
    const SoftProblem problem = soft_problem(model, options, kMu);
    const Solution exact = solve(model, "z-variational", {.mu = kMu});
    const auto worth = [&](State s, const Policy& policy) {
      double sum = 0.0;
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a)) continue;
        double one = model.expected_reward(s, a);
        for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
          const auto t = model.transition(s, a, i);
          one += t.probability * exact.value[static_cast<size_t>(t.next)];
        }
        sum += policy(s, a) * one;
      }
      return sum;
    };
    const double error = 1e-3;
    const double bound = policy_error(problem, exact.policy, exact.value, error);
    double most = 0.0;
    Rng rng(5);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<double> log_z = exact.log_z;
      for (double& value : log_z) value += rng.below(2) == 0 ? error : -error;
      const Policy off = soft_policy(problem, log_z);
      for (const State s : problem.order) {
        most = std::max(most, std::abs(worth(s, off) - worth(s, exact.policy)));
      }
    }
    EXPECT_LE(most, bound) << name;
    EXPECT_GT(most, 0.15 * bound) << name;
  }
}

}  // namespace
}  // namespace agora::planning

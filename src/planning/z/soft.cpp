#include "planning/z/soft.h"

#include <algorithm>
#include <cmath>

#include "planning/optimum/evaluation.h"
#include "planning/z/partition.h"

namespace agora::planning {

SoftProblem soft_problem(const Model& model, const SolveOptions& options, double mu) {
  if (!(options.beta > 0.0) && options.discount.value_or(model.discount()) < 1.0) {
    throw user_error("beta is {}; soft values need beta > 0", options.beta);
  }
  ValueProblem values = value_problem(model, options);
  SoftProblem problem{model,
                      options.beta,
                      mu,
                      values.discount,
                      {},
                      std::move(values.order),
                      std::move(values.value)};
  for (double& v : problem.log_z) {
    if (std::isfinite(v)) v *= options.beta;
  }
  const size_t d = static_cast<size_t>(model.actions());
  problem.reward.assign(static_cast<size_t>(model.states()) * d, -INFINITY);
  in_parts(model.states(), [&](int64_t from, int64_t until) {
    for (State s = static_cast<State>(from); s < static_cast<State>(until); ++s) {
      for (Action a = 0; a < model.actions(); ++a) {
        if (model.has(s, a)) {
          problem.reward[static_cast<size_t>(model.row(s, a))] = model.expected_reward(s, a);
        }
      }
    }
  });
  return problem;
}

double soft_backup(const SoftProblem& problem, State s, const std::vector<double>& log_z,
                   std::vector<double>& q) {
  const Model& model = problem.model;
  double top = -INFINITY;
  for (Action a = 0; a < model.actions(); ++a) {
    double& exponent = q[static_cast<size_t>(a)];
    exponent = -INFINITY;
    const int64_t n = model.transition_count(s, a);
    if (n == 0) continue;
    double mean = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      const auto t = model.transition(s, a, i);
      mean += t.probability * log_z[static_cast<size_t>(t.next)];
    }
    exponent = problem.beta * problem.reward[static_cast<size_t>(model.row(s, a))] + problem.mu +
               problem.discount * mean;
    top = std::max(top, exponent);
  }
  if (top == -INFINITY) return top;
  double sum = 0.0;
  for (const double exponent : q) sum += std::exp(exponent - top);
  return top + std::log(sum);
}

Policy soft_policy(const SoftProblem& problem, const std::vector<double>& log_z) {
  Policy policy;
  policy.actions = problem.model.actions();
  const size_t d = static_cast<size_t>(policy.actions);
  policy.probabilities.assign(log_z.size() * d, 0.0);
  in_parts(static_cast<int64_t>(problem.order.size()), [&](int64_t from, int64_t until) {
    std::vector<double> q(d);
    for (int64_t k = from; k < until; ++k) {
      const State s = problem.order[static_cast<size_t>(k)];
      const double total = soft_backup(problem, s, log_z, q);
      for (size_t a = 0; a < d; ++a) {
        policy.probabilities[static_cast<size_t>(s) * d + a] = std::exp(q[a] - total);
      }
    }
  });
  return policy;
}

double soft_residual(const SoftProblem& problem, const std::vector<double>& log_z) {
  return max_over_parts(
      static_cast<int64_t>(problem.order.size()), [&](int64_t from, int64_t until) {
        std::vector<double> q(static_cast<size_t>(problem.model.actions()));
        double most = 0.0;
        for (int64_t k = from; k < until; ++k) {
          const State s = problem.order[static_cast<size_t>(k)];
          const double off =
              std::abs(soft_backup(problem, s, log_z, q) - log_z[static_cast<size_t>(s)]);
          most = larger(most, off);
        }
        return most;
      });
}

void soft_newton(const SoftProblem& problem, std::vector<double>& log_z, double tolerance,
                 Solution& solution) {
  const Model& model = problem.model;
  std::vector<double> q(static_cast<size_t>(model.actions()));
  for (int round = 0; round < 100; ++round) {
    solution.policy = soft_policy(problem, log_z);
    // log sum exp q = sum pi (q - log pi): the entropy is part of the reward.
    const PolicyValue next = evaluate_rewards(
        model, solution.policy, problem.discount, 0.1 * tolerance,
        [&](State s, Action a) {
          const double p = solution.policy(s, a);
          return problem.beta * problem.reward[static_cast<size_t>(model.row(s, a))] + problem.mu -
                 std::log(p);
        },
        [&](State s) { return problem.beta * model.terminal_reward(s); });
    solution.sweeps += next.sweeps;
    double change = 0.0;
    for (const State s : problem.order) {
      const double value = next.value[static_cast<size_t>(s)];
      change = std::max(change, std::abs(value - log_z[static_cast<size_t>(s)]));
      log_z[static_cast<size_t>(s)] = value;
    }
    solution.residual = soft_residual(problem, log_z);
    solution.bound = solution.residual * next.longest + next.bound;
    if (!std::isfinite(change) || change > 1e12) {
      throw user_error(
          "the soft equation diverges at beta = {}, mu = {}: longer paths must weigh less, mu = "
          "{:.4g} works",
          problem.beta, problem.mu,
          default_mu(model) - problem.beta * std::max(0.0, model.rewards().max()));
    }
    if (solution.bound <= tolerance || change < 1e-14) break;
  }
  solution.policy = soft_policy(problem, log_z);
}

double policy_error(const SoftProblem& problem, const Policy& policy,
                    const std::vector<double>& value, double log_z_error) {
  const Model& model = problem.model;
  double most = 0.0;
  for (const State s : problem.order) {
    double spread = 0.0;
    for (Action a = 0; a < model.actions(); ++a) {
      const double p = policy(s, a);
      if (p <= 0.0) continue;
      double worth = problem.reward[static_cast<size_t>(model.row(s, a))];
      for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
        const auto t = model.transition(s, a, i);
        worth += t.probability * value[static_cast<size_t>(t.next)];
      }
      spread += p * std::abs(worth - value[static_cast<size_t>(s)]);
    }
    most = std::max(most, spread);
  }
  return std::expm1(2.0 * log_z_error) * most;
}

}  // namespace agora::planning

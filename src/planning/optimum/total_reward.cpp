#include "planning/optimum/total_reward.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "planning/optimum/end_components.h"

namespace agora::planning {
namespace {

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double v : values) most = std::max(most, std::isfinite(v) ? std::abs(v) : 0.0);
  return most;
}

// Lets the policy end everywhere: states that may stay for ever take, from the end outwards, the
// action closest to the best of those that come nearer to it.
template <ActionValues Rows>
void make_it_end(const ValueProblem& problem, const Rows& rows, const std::vector<double>& value,
                 double residual, Policy& policy) {
  std::vector<char> ends = surely_ends(problem.model, policy);
  std::vector<State> stuck;
  for (const State s : problem.order) {
    if (!ends[static_cast<size_t>(s)]) stuck.push_back(s);
  }
  const auto comes_nearer = [&](State s, Action a) {
    for (int64_t i = 0, n = problem.model.transition_count(s, a); i < n; ++i) {
      if (ends[static_cast<size_t>(problem.model.transition(s, a, i).next)]) return true;
    }
    return false;
  };
  Watch watch;
  for (double allowed = 2.0 * residual + 1e-14 * (1.0 + largest(value)); !stuck.empty();
       allowed = std::max(100.0 * allowed, 1e-300)) {
    for (size_t before = 0; before != stuck.size();) {
      before = stuck.size();
      std::erase_if(stuck, [&](State s) {
        BestAction best;
        for (Action a = 0; a < rows.actions(); ++a) {
          watch();
          const double q = rows.q(s, a, value.data());
          if (q > best.value && q >= value[static_cast<size_t>(s)] - allowed &&
              comes_nearer(s, a)) {
            best = {q, a};
          }
        }
        if (best.action == kNone) return false;
        policy.greedy[static_cast<size_t>(s)] = best.action;
        ends[static_cast<size_t>(s)] = 1;
        return true;
      });
    }
  }
}

// How far the optimum may be above `value`: by eps * steps if no action gains more than that in U =
// value + eps * steps, which is then above the optimum. Infinity if no eps is found.
template <ActionValues Rows>
double distance_above(const ValueProblem& problem, const Rows& rows,
                      const std::vector<double>& value, const std::vector<double>& steps) {
  const double rounding = 1e-15 * (1.0 + largest(value));
  double least = 0.0, most = INFINITY, longest = 0.0;
  const Model& model = problem.model;
  Watch watch;
  for (const State s : problem.order) {
    longest = std::max(longest, steps[static_cast<size_t>(s)]);
    for (Action a = 0; a < model.actions(); ++a) {
      watch();
      const double q = rows.q(s, a, value.data());
      if (q == -INFINITY) continue;
      double after = 0.0;
      for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
        const auto t = model.transition(s, a, i);
        after += t.probability * steps[static_cast<size_t>(t.next)];
      }
      // q + eps after <= value + eps steps
      const double loss = value[static_cast<size_t>(s)] - q - rounding;
      const double nearer = steps[static_cast<size_t>(s)] - after;
      if (nearer > 0.0) {
        least = std::max(least, -loss / nearer);
      } else if (loss < 0.0) {
        return INFINITY;
      } else if (nearer < 0.0) {
        most = std::min(most, loss / -nearer);
      }
    }
  }
  return least <= most ? least * longest : INFINITY;
}

}  // namespace

void start_from_below(ValueProblem& problem) {
  const Model& model = problem.model;
  if (model.is_deterministic()) {  // the order is that in which `ending` was found
    for (const State s : problem.order) {
      const auto t = model.transition(s, problem.ending[static_cast<size_t>(s)], 0);
      problem.value[static_cast<size_t>(s)] = t.reward + problem.value[static_cast<size_t>(t.next)];
    }
    return;
  }
  Policy policy;
  policy.actions = model.actions();
  policy.greedy = problem.ending;
  const PolicyValue earned = evaluate_policy(model, policy, 1.0, 1e-9);
  for (const State s : problem.order) {
    problem.value[static_cast<size_t>(s)] = earned.value[static_cast<size_t>(s)] - earned.bound;
  }
}

Improved improve(const ValueProblem& problem, Policy policy, const SolveOptions& options) {
  const Model& model = problem.model;
  const double tolerance =
      options.tolerance * (problem.discount < 1.0 ? 0.1 * (1.0 - problem.discount) : 1e-3);
  Improved now{std::move(policy), {}, 0.0, 0};
  while (++now.rounds <= options.max_sweeps) {
    now.evaluation =
        evaluate_policy(model, now.policy, problem.discount, tolerance, now.evaluation.value);
    const std::vector<double>& value = now.evaluation.value;
    for (const State s : problem.order) {
      if (value[static_cast<size_t>(s)] > -INFINITY) continue;
      throw user_error(
          "a loop through state '{}' gains reward for ever, so the total reward is infinite: give "
          "a discount below 1",
          model.state_name(s));
    }
    now.margin = 2.0 * now.evaluation.bound + 1e-13 * (1.0 + largest(value));
    bool changed = false;
    with_rows(model, problem.discount, [&](const auto& rows) {
      for (const State s : problem.order) {
        Action& action = now.policy.greedy[static_cast<size_t>(s)];
        const BestAction best = best_action(rows, s, value.data());
        if (!(best.value > rows.q(s, action, value.data()) + now.margin)) continue;
        action = best.action;
        changed = true;
      }
    });
    if (options.progress) options.progress(now.rounds, changed ? 1.0 : 0.0);
    if (!changed) return now;
  }
  throw user_error("no convergence after {} policies", options.max_sweeps);
}

void refuse_positive_loops(const ValueProblem& problem, const std::vector<double>& value,
                           const SolveOptions& options) {
  Policy policy;
  greedy_policy(problem, value, policy);
  const std::vector<char> ends = surely_ends(problem.model, policy);
  if (std::all_of(problem.order.begin(), problem.order.end(),
                  [&](State s) { return ends[static_cast<size_t>(s)]; })) {
    return;
  }
  policy.greedy = problem.ending;
  improve(problem, std::move(policy), options);
}

void finish_total_reward(const ValueProblem& problem, const SolveOptions& options,
                         Solution& solution) {
  const Model& model = problem.model;
  with_rows(model, 1.0, [&](const auto& rows) {
    make_it_end(problem, rows, solution.value, solution.residual, solution.policy);
    if (model.is_deterministic() && solution.residual == 0.0) {
      // Values that the policy earns and no action exceeds.
      const bool earned = std::all_of(problem.order.begin(), problem.order.end(), [&](State s) {
        const Action a = solution.policy.greedy[static_cast<size_t>(s)];
        return rows.q(s, a, solution.value.data()) == solution.value[static_cast<size_t>(s)];
      });
      if (earned) {
        solution.bound = 0.0;
        return;
      }
    }
    const PolicyValue earned =
        evaluate_policy(model, solution.policy, 1.0, 0.1 * options.tolerance, solution.value);
    double above = 0.0;
    for (const State s : problem.order) {
      above = std::max(
          above, solution.value[static_cast<size_t>(s)] - earned.value[static_cast<size_t>(s)]);
    }
    solution.bound =
        std::max(above + earned.bound, distance_above(problem, rows, solution.value, earned.steps));
    if (solution.bound <= options.tolerance) return;
    Improved better = improve(problem, solution.policy, options);
    const double bound = better.evaluation.bound +
                         distance_above_classes(problem, better.evaluation.value, better.margin);
    if (!(bound < solution.bound)) return;
    solution.policy = std::move(better.policy);
    solution.value = std::move(better.evaluation.value);
    solution.bound = bound;
    Policy ignored;
    solution.residual = greedy_policy(problem, solution.value, ignored);
  });
}

}  // namespace agora::planning

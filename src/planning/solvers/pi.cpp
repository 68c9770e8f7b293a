#include "base/error.h"
#include "planning/evaluation.h"
#include "planning/optimum.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

// Howard's policy iteration: exact evaluation, then every state takes its best action. An action
// is given up only for a truly better one, so that a policy that ends keeps ending.
Solution policy_iteration(const Model& model, const SolveOptions& options) {
  ValueProblem problem = value_problem(model, options);
  Policy policy;
  policy.actions = model.actions();
  policy.greedy = problem.ending;
  if (policy.greedy.empty()) greedy_policy(problem, problem.value, policy);
  double scale = 0.0;
  for (int64_t round = 1; round <= options.max_sweeps; ++round) {
    const Evaluation now =
        evaluate_policy(model, policy, problem.discount, 0.1 * options.tolerance);
    // Only a gain for ever makes a policy that ends give way to one that does not.
    for (const State s : problem.order) {
      if (now.value[static_cast<size_t>(s)] > -INFINITY) continue;
      throw user_error(
          "a loop through state '{}' gains reward for ever, so the total reward is infinite: give "
          "a discount below 1",
          model.state_name(s));
    }
    for (const double v : now.value) scale = std::max(scale, std::isfinite(v) ? std::abs(v) : 0.0);
    const double margin = 2.0 * now.bound + 1e-13 * (1.0 + scale);
    bool changed = false;
    with_rows(model, problem.discount, [&](const auto& rows) {
      for (const State s : problem.order) {
        Action& action = policy.greedy[static_cast<size_t>(s)];
        const double own = rows.q(s, action, now.value.data());
        const Best best = best_action(rows, s, now.value.data());
        if (best.value > own + margin) {
          action = best.action;
          changed = true;
        }
      }
    });
    if (options.progress) options.progress(round, changed ? 1.0 : 0.0);
    if (changed) continue;
    Solution solution = finish_optimum(problem, now.value, options, round);
    solution.policy = policy;
    return solution;
  }
  throw user_error("no convergence after {} policies", options.max_sweeps);
}

}  // namespace

Solver entry_pi() {
  return {.name = "pi",
          .summary = "policy iteration with exact evaluation",
          .answer = Solver::Answer::kOptimum,
          .run = policy_iteration};
}

}  // namespace agora::planning

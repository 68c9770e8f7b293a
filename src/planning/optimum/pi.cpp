#include "planning/optimum/optimum.h"
#include "planning/optimum/total_reward.h"
#include "planning/solver.h"

namespace agora::planning::kind_pi {
namespace {

Solution policy_iteration(const Model& model, const SolveOptions& options) {
  const ValueProblem problem = value_problem(model, options);
  Policy policy;
  policy.actions = model.actions();
  policy.greedy = problem.ending;
  if (policy.greedy.empty()) greedy_policy(problem, problem.value, policy);
  Improved best = improve(problem, std::move(policy), options);
  Solution solution =
      finish_optimum(problem, std::move(best.evaluation.value), options, best.rounds);
  if (problem.discount < 1.0) solution.policy = std::move(best.policy);
  return solution;
}

}  // namespace

Solver entry_pi() {
  return {.name = "pi",
          .summary = "policy iteration with exact evaluation",
          .answer = Solver::Answer::kOptimum,
          .run = policy_iteration};
}

}  // namespace agora::planning::kind_pi

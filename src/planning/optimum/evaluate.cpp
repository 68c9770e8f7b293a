#include "planning/optimum/evaluation.h"
#include "planning/solver.h"
#include "planning/z/partition.h"

namespace agora::planning::kind_evaluate {
namespace {

Solution evaluate_given(const Model& model, const SolveOptions& options) {
  Solution solution;
  solution.discount = options.discount.value_or(model.discount());
  if (solution.discount == 1.0) require_an_end(model);
  solution.policy = options.policy.empty() ? uniform_policy(model) : options.policy;
  PolicyValue result =
      evaluate_policy(model, solution.policy, solution.discount, options.tolerance);
  solution.value = std::move(result.value);
  solution.residual = result.residual;
  solution.bound = result.bound;
  solution.sweeps = result.sweeps;
  return solution;
}

}  // namespace

Solver entry_evaluate() {
  return {.name = "evaluate",
          .summary = "exact value of a policy (the uniform one if none is given)",
          .answer = Solver::Answer::kPolicyValue,
          .parameters = {tolerance_parameter()},
          .run = evaluate_given};
}

}  // namespace agora::planning::kind_evaluate

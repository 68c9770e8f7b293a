#include <cmath>

#include "base/error.h"
#include "planning/solver.h"
#include "planning/z/partition.h"

namespace agora::planning::kind_z_averaged {
namespace {

// eq. avgBellman. `joint_policy` is the policy of the thesis's "unrealistic" equation, which picks
// the landing state too; `policy` is what can be executed, its sum over landing states.
Solution averaged(const Model& model, const SolveOptions& options) {
  if (std::isinf(options.beta) && !model.is_deterministic()) {
    throw user_error("method 'z-averaged' takes a finite beta on stochastic models");
  }
  Solution solution = solve_partition(model, options, PartitionMethod::kAutomatic);
  solution.policy_value = evaluate(model, solution.policy, 1.0, options.tolerance);
  return solution;
}

}  // namespace

Solver entry_z_averaged() {
  return {.name = "z-averaged",
          .summary = "averaged Bellman equation of Z; risky: it bets on lucky transitions",
          .answer = Solver::Answer::kPartitionFunction,
          .discounted = false,
          .parameters = both(thermal_parameters(), {sweeps_parameter()}),
          .run = averaged};
}

}  // namespace agora::planning::kind_z_averaged

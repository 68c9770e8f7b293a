#pragma once
#include <agora/planning/solve.h>

#include "planning/optimum/evaluation.h"
#include "planning/optimum/optimum.h"

namespace agora::planning {

// The total reward V of a state is the most that a policy earns which ends with probability one:
// the least solution of Bellman's optimality equation that is finite where such a policy exists.
// Sweeps from below find it, and so does policy iteration from a policy that ends; others may
// settle on circles that cost nothing and never end.

// Puts what problem.ending earns, rounded down, in problem.value.
void start_from_below(ValueProblem& problem);

// Howard's policy iteration: exact evaluation, then every state takes its best action. An action is
// given up only for a truly better one, so that a policy that ends keeps ending; one that stops to
// do so has found a loop that gains for ever, which is an error.
struct Improved {
  Policy policy;
  PolicyValue evaluation;
  double margin;  // gains up to this are taken for rounding
  int64_t rounds;
};
Improved improve(const ValueProblem& problem, Policy policy, const SolveOptions& options);

// The policy of solution.value, changed where it does not end; the bound on the error of the
// values, with both replaced by the next better policies' where nothing else proves it.
void finish_total_reward(const ValueProblem& problem, const SolveOptions& options,
                         Solution& solution);

}  // namespace agora::planning

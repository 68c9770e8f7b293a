#pragma once
#include <agora/planning/solve.h>

#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "planning/model/parts.h"
#include "planning/optimum/bellman.h"

namespace agora::planning {

// Value iteration in place: new values are used at once and states near the end go first, so that
// one sweep carries the rewards of the end through all that leads to it.
Solution optimal_values(const Model& model, const SolveOptions& options);

// What all optimality solvers start from: terminal rewards in place, -infinity where, without a
// discount, no policy surely ends, zero, a bound from below or the warm start elsewhere. Total
// reward needs an end in reach of the start; user errors say so.
struct ValueProblem {
  const Model& model;
  double discount;
  std::vector<double> value;   // (states)
  std::vector<State> order;    // states to update, those near the end first
  std::vector<Action> ending;  // total reward: an action that leads to an end; else empty
};
ValueProblem value_problem(const Model& model, const SolveOptions& options);
// The same for sweeps of Bellman's optimality equation. Where steps may be free or gain, the total
// reward of policies that end is its least solution: sweeps then begin with what one of them earns.
ValueProblem optimum_problem(const Model& model, const SolveOptions& options);

// Greedy policy of the values, and the Bellman residual over `order`.
double greedy_policy(const ValueProblem& problem, const std::vector<double>& value, Policy& policy);

// Total reward: refuses models with a loop that gains for ever. Does nothing if all policies that
// are greedy for `value` end.
void refuse_positive_loops(const ValueProblem& problem, const std::vector<double>& value,
                           const SolveOptions& options);

// Values done, policy, residual and bound filled in. For total reward the policy ends; should the
// values not prove their bound, they are replaced by what the policy earns.
Solution finish_optimum(const ValueProblem& problem, std::vector<double> value,
                        const SolveOptions& options, int64_t sweeps);

// The largest change of a sweep at which the error is within the tolerance (a guess for total
// reward, tightened by the caller until the bound agrees).
double change_for(double discount, double tolerance);

// sweep() -> largest change, until the bound on the error is within the tolerance.
template <typename Sweep>
Solution iterate(const ValueProblem& problem, std::vector<double>& value,
                 const SolveOptions& options, Sweep&& sweep) {
  double target = change_for(problem.discount, options.tolerance);
  const bool may_loop = problem.discount == 1.0 && problem.model.rewards().max() > 0.0;
  constexpr int64_t kLoopCheck = 1000;  // sweeps; what converges has mostly done so by then
  int64_t sweeps = 0;
  while (true) {
    double change = INFINITY;
    while (change > target) {
      change = sweep();
      ++sweeps;
      if (options.progress) options.progress(sweeps, change);
      if (sweeps > options.max_sweeps || std::isnan(change)) {
        throw user_error("no convergence after {} sweeps (last change {:.3g})", sweeps, change);
      }
      if (may_loop && sweeps == kLoopCheck) refuse_positive_loops(problem, value, options);
      if (change == 0.0) break;
    }
    Solution solution = finish_optimum(problem, value, options, sweeps);
    if (solution.bound <= options.tolerance || change == 0.0 || target < 1e-14) {
      if (solution.bound > options.tolerance) {
        solution.warnings.push_back(fmt::format("the error bound reached is {:.3g}, not {:.3g}",
                                                solution.bound, options.tolerance));
      }
      return solution;
    }
    target *= 0.1;
  }
}

}  // namespace agora::planning

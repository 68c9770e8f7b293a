#include "planning/model/parts.h"
#include "planning/solver.h"
#include "planning/z/partition.h"
#include "planning/z/soft.h"

namespace agora::planning::kind_soft_vi {
namespace {

// V(s) = 1/beta log sum_a exp(beta (r + discount P V)), in place from the ends outwards. Without a
// discount every step costs -mu/beta too, else walking in circles would gain entropy for ever; on
// a deterministic model beta V is then log Z.
Solution soft_value_iteration(const Model& model, const SolveOptions& options) {
  if (!(options.beta > 0.0)) throw user_error("beta is {}; soft-vi needs beta > 0", options.beta);
  if (std::isinf(options.beta)) {
    Solution limit = optimal_values(model, options);
    limit.beta = options.beta;
    return limit;
  }
  Solution solution;
  solution.beta = options.beta;
  solution.discount = options.discount.value_or(model.discount());
  solution.mu = options.mu.value_or(solution.discount < 1.0 ? 0.0 : default_mu(model));
  const SoftProblem problem = soft_problem(model, options, solution.mu);
  std::vector<double> log_z = problem.log_z, q(static_cast<size_t>(model.actions()));
  // The exponents contract by the discount; without one, Newton's method finishes and bounds.
  const bool discounted = solution.discount < 1.0;
  const double goal = options.tolerance * std::min(1.0, options.beta);
  const double target = discounted ? change_for(solution.discount, goal) : 1e-2;
  Watch watch;
  const int64_t most = discounted ? options.max_sweeps : 200;
  for (double change = INFINITY; change > target && solution.sweeps < most; ++solution.sweeps) {
    change = 0.0;
    for (const State s : problem.order) {
      watch();
      const double value = soft_backup(problem, s, log_z, q);
      change = std::max(change, std::abs(value - log_z[static_cast<size_t>(s)]));
      log_z[static_cast<size_t>(s)] = value;
    }
    if (options.progress) options.progress(solution.sweeps, change);
  }
  if (discounted) {
    solution.policy = soft_policy(problem, log_z);
    solution.residual = soft_residual(problem, log_z);
    solution.bound = solution.residual / (1.0 - solution.discount);
  } else {
    soft_newton(problem, log_z, goal, solution);
  }
  solution.residual /= options.beta;
  solution.bound /= options.beta;
  solution.value = std::move(log_z);
  for (double& v : solution.value) v /= options.beta;
  return solution;
}

}  // namespace

Solver entry_soft_vi() {
  return {.name = "soft-vi",
          .summary = "soft value iteration: values with the policy's entropy over beta",
          .answer = Solver::Answer::kSoftValue,
          .parameters = both(thermal_parameters(), {sweeps_parameter()}),
          .run = soft_value_iteration};
}

}  // namespace agora::planning::kind_soft_vi

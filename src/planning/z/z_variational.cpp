#include "planning/optimum/evaluation.h"
#include "planning/solver.h"
#include "planning/z/partition.h"
#include "planning/z/soft.h"

namespace agora::planning::kind_z_variational {
namespace {

// eq. variationalBellman by fixed-point sweeps in log Z, finished by Newton's method. Its policy
// depends on the state alone, and V, the derivative of log Z, is exactly what it earns.
Solution variational(const Model& model, const SolveOptions& options) {
  require_an_end(model);
  if (std::isinf(options.beta)) {
    throw user_error("method 'z-variational' takes a finite beta");
  }
  Solution solution;
  solution.beta = options.beta;
  solution.mu = options.mu.value_or(default_mu(model));
  SolveOptions total = options;
  total.discount = 1.0;
  if (options.discount.value_or(model.discount()) < 1.0) {
    solution.warnings.push_back("the partition function has no discount; mu takes its place");
  }
  const SoftProblem problem = soft_problem(model, total, solution.mu);
  std::vector<double> log_z = problem.log_z, q(static_cast<size_t>(model.actions()));
  for (double change = INFINITY; change > 1e-2 && solution.sweeps < 200; ++solution.sweeps) {
    change = 0.0;
    for (const State s : problem.order) {
      const double value = soft_backup(problem, s, log_z, q);
      change = std::max(change, std::abs(value - log_z[static_cast<size_t>(s)]));
      log_z[static_cast<size_t>(s)] = value;
    }
    if (options.progress) options.progress(solution.sweeps, change);
  }
  PolicyValue values;
  double goal = options.tolerance;
  for (int attempt = 0; attempt < 4; ++attempt) {
    soft_newton(problem, log_z, goal, solution);
    values = evaluate_policy(model, solution.policy, 1.0, 0.5 * options.tolerance);
    const double value_bound =
        values.bound +
        values.longest * policy_error(problem, solution.policy, values.value, solution.bound);
    solution.bound = std::max(solution.bound, value_bound);
    if (solution.bound <= options.tolerance) break;
    goal = 0.25 * goal * options.tolerance / solution.bound;
  }
  if (solution.bound > options.tolerance) {
    solution.warnings.push_back(
        fmt::format("rounding allows an error bound of {:.3g} only, not {:.3g}", solution.bound,
                    options.tolerance));
  }
  solution.value = std::move(values.value);
  solution.policy_value = solution.value;
  solution.log_z = std::move(log_z);
  return solution;
}

}  // namespace

Solver entry_z_variational() {
  return {.name = "z-variational",
          .summary = "variational Bellman equation of Z, with a policy one can execute",
          .answer = Solver::Answer::kPartitionFunction,
          .discounted = false,
          .parameters = thermal_parameters(),
          .run = variational};
}

}  // namespace agora::planning::kind_z_variational

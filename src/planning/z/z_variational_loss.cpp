#include <Eigen/SparseCholesky>
#include <cmath>

#include "planning/optimum/evaluation.h"
#include "planning/solver.h"
#include "planning/z/partition.h"
#include "planning/z/soft.h"

namespace agora::planning::kind_z_variational_loss {
namespace {

constexpr State kMostStates = 5000;

// Minimises the thesis's Delta(theta), the mean squared Bellman error of Z_theta with theta_s =
// Z(s), by Levenberg and Marquardt's method over log theta, which keeps theta positive. Its
// minimum, zero, is the fixed point that z-variational finds.
Solution minimise(const Model& model, const SolveOptions& options) {
  require_an_end(model);
  if (std::isinf(options.beta)) {
    throw user_error("method 'z-variational-loss' takes a finite beta");
  }
  if (model.states() > kMostStates) {
    throw user_error(
        "method 'z-variational-loss' takes up to {} states, this model has {}; "
        "z-variational has no limit",
        kMostStates, model.states());
  }
  Solution solution;
  solution.beta = options.beta;
  solution.mu = options.mu.value_or(default_mu(model));
  SolveOptions total = options;
  total.discount = 1.0;
  const SoftProblem problem = soft_problem(model, total, solution.mu);
  const int n = static_cast<int>(problem.order.size());
  std::vector<int> index(static_cast<size_t>(model.states()), -1);
  for (int k = 0; k < n; ++k) index[static_cast<size_t>(problem.order[static_cast<size_t>(k)])] = k;
  std::vector<double> log_z = problem.log_z, q(static_cast<size_t>(model.actions()));

  // Errors Z_s - sum_a exp q_a, all divided by one number so that the largest Z is one.
  const auto errors = [&](const std::vector<double>& l, double top) {
    Eigen::VectorXd f(n);
    for (int k = 0; k < n; ++k) {
      const State s = problem.order[static_cast<size_t>(k)];
      f[k] =
          std::exp(l[static_cast<size_t>(s)] - top) - std::exp(soft_backup(problem, s, l, q) - top);
    }
    return f;
  };
  double damping = 1e-3;
  for (; solution.sweeps < 500; ++solution.sweeps) {
    double top = -INFINITY;
    for (const State s : problem.order) top = std::max(top, log_z[static_cast<size_t>(s)]);
    const Eigen::VectorXd f = errors(log_z, top);
    std::vector<Eigen::Triplet<double>> triplets;
    for (int k = 0; k < n; ++k) {
      const State s = problem.order[static_cast<size_t>(k)];
      soft_backup(problem, s, log_z, q);
      triplets.emplace_back(k, k, std::exp(log_z[static_cast<size_t>(s)] - top));
      for (Action a = 0; a < model.actions(); ++a) {
        const double weight = std::exp(q[static_cast<size_t>(a)] - top);
        if (weight == 0.0) continue;
        for (int64_t i = 0, m = model.transition_count(s, a); i < m; ++i) {
          const auto t = model.transition(s, a, i);
          const int to = index[static_cast<size_t>(t.next)];
          if (to >= 0) triplets.emplace_back(k, to, -weight * t.probability);
        }
      }
    }
    Eigen::SparseMatrix<double> jacobian(n, n);
    jacobian.setFromTriplets(triplets.begin(), triplets.end());
    const Eigen::SparseMatrix<double> normal = jacobian.transpose() * jacobian;
    const Eigen::VectorXd gradient = jacobian.transpose() * f;
    bool better = false;
    for (int attempt = 0; attempt < 30 && !better; ++attempt) {
      Eigen::SparseMatrix<double> damped = normal;
      for (int k = 0; k < n; ++k) damped.coeffRef(k, k) += damping * normal.coeff(k, k) + 1e-300;
      const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(damped);
      const Eigen::VectorXd step = solver.solve(gradient);
      std::vector<double> next = log_z;
      for (int k = 0; k < n; ++k) {
        next[static_cast<size_t>(problem.order[static_cast<size_t>(k)])] -=
            std::clamp(step[k], -5.0, 5.0);
      }
      better = errors(next, top).squaredNorm() < f.squaredNorm();
      damping *= better ? 0.2 : 4.0;
      if (better) log_z = std::move(next);
    }
    solution.residual = soft_residual(problem, log_z);
    if (options.progress) options.progress(solution.sweeps, f.squaredNorm() / n);
    if (!better || solution.residual < 1e-13) break;
  }
  solution.policy = soft_policy(problem, log_z);
  const PolicyValue values = evaluate_policy(model, solution.policy, 1.0, options.tolerance);
  const double log_z_error = solution.residual * values.longest;
  solution.bound =
      std::max(log_z_error,
               policy_error(problem, solution.policy, values.value, log_z_error) * values.longest +
                   values.bound);
  // Squares of Z far below the largest one weigh nothing in Delta.
  if (!(log_z_error < 0.1)) {
    throw user_error(
        "Delta does not tell how large Z is in all states: its minimum leaves log Z uncertain by "
        "{:.3g}; z-variational has no such limit",
        log_z_error);
  }
  if (solution.bound > options.tolerance) {
    solution.warnings.push_back(
        fmt::format("squares of Z far below the largest one weigh little in Delta: the error bound "
                    "reached is {:.3g}, not {:.3g}",
                    solution.bound, options.tolerance));
  }
  solution.value = values.value;
  solution.policy_value = values.value;
  solution.log_z = std::move(log_z);
  return solution;
}

}  // namespace

Solver entry_z_variational_loss() {
  return {.name = "z-variational-loss",
          .summary = "the variational equation by minimising its squared error, for small models",
          .answer = Solver::Answer::kPartitionFunction,
          .discounted = false,
          .parameters = thermal_parameters(),
          .run = minimise};
}

}  // namespace agora::planning::kind_z_variational_loss

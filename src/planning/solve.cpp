#include <agora/planning/solve.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "planning/evaluation.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

void check_model(const Model& model, const Solver& solver) {
  if (!solver.stochastic && !model.is_deterministic()) {
    throw user_error(
        "method '{}' takes deterministic models only; this one is stochastic "
        "(z-averaged and z-variational take it)",
        solver.name);
  }
}

}  // namespace

void check_options(const SolveOptions& options) {
  if (!(options.beta >= 0.0)) throw user_error("beta is {}; expected a number >= 0", options.beta);
  if (!(options.tolerance > 0.0)) {
    throw user_error("the tolerance is {}; expected a number above 0", options.tolerance);
  }
  if (options.discount && !(*options.discount > 0.0 && *options.discount <= 1.0)) {
    throw user_error("the discount is {}; expected a number above 0 and at most 1",
                     *options.discount);
  }
}

Action Policy::best(State s) const {
  if (!greedy.empty()) return greedy[static_cast<size_t>(s)];
  Action best = kNone;
  double most = 0.0;
  for (Action a = 0; a < actions; ++a) {
    if ((*this)(s, a) > most) {
      most = (*this)(s, a);
      best = a;
    }
  }
  return best;
}

double start_value(const Model& model, const Solution& solution) {
  double sum = 0.0;
  for (const auto& [s, p] : model.start()) sum += p * solution.value[static_cast<size_t>(s)];
  return sum;
}

double start_log_z(const Model& model, const Solution& solution) {
  double sum = 0.0;
  for (const auto& [s, p] : model.start()) sum += p * solution.log_z[static_cast<size_t>(s)];
  return sum;
}

const Solver& find_solver(const std::string& name) {
  for (const Solver& solver : solvers()) {
    if (solver.name == name) return solver;
  }
  throw user_error("unknown method '{}'{}; the methods are {}", name,
                   suggestion(name, method_names()), fmt::join(method_names(), ", "));
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Solver& solver : solvers()) names.push_back(solver.name);
  return names;
}

Solution PartitionFunction::operator()(const Model& model) const {
  SolveOptions options;
  options.beta = beta;
  options.mu = mu;
  options.tolerance = tolerance;
  return solve(model, method, options);
}

std::vector<Solution> PartitionFunction::sweep(const Model& model,
                                               const std::vector<double>& betas) const {
  std::vector<Solution> solutions;
  for (const double each : betas) {
    SolveOptions options;
    options.beta = each;
    options.mu = mu;
    options.tolerance = tolerance;
    // log Z moves by V for every unit of beta.
    if (!solutions.empty() && std::isfinite(each) && std::isfinite(solutions.back().beta)) {
      const Solution& last = solutions.back();
      options.warm_start = last.log_z;
      for (size_t s = 0; s < last.value.size(); ++s) {
        options.warm_start[s] += (each - last.beta) * last.value[s];
      }
    }
    solutions.push_back(solve(model, method, options));
  }
  return solutions;
}

Solution ValueIteration::operator()(const Model& model) const {
  SolveOptions options;
  options.discount = discount;
  options.tolerance = tolerance;
  return solve(model, method, options);
}

std::vector<double> evaluate(const Model& model, const Policy& policy,
                             std::optional<double> discount, double tolerance) {
  return evaluate_policy(model, policy, discount.value_or(model.discount()), tolerance).value;
}

Solution solve(const Model& model, const std::string& method, const SolveOptions& options) {
  const Solver& solver = find_solver(method);
  check_options(options);
  check_model(model, solver);
  const auto begin = std::chrono::steady_clock::now();
  Solution solution = solver.run(model, options);
  solution.method = solver.name;
  solution.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return solution;
}

}  // namespace agora::planning

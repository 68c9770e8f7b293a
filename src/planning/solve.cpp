#include <agora/planning/solve.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "planning/optimum/evaluation.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

constexpr double kLargestSum = 1e300;  // of rewards, one for every state

double largest_reward(const Model& model) {
  double most = std::max(std::abs(model.rewards().min()), std::abs(model.rewards().max()));
  for (const Terminal& end : model.terminals()) most = std::max(most, std::abs(end.reward));
  return most;
}

void check_model(const Model& model, const Solver& solver, const SolveOptions& options) {
  const bool weighs = solver.answer == Solver::Answer::kPartitionFunction ||
                      solver.answer == Solver::Answer::kSoftValue;
  const double beta = weighs && std::isfinite(options.beta) ? std::max(1.0, options.beta) : 1.0;
  if (const double most = largest_reward(model); !(beta * most * model.states() <= kLargestSum)) {
    throw user_error("rewards of {:.3g}{} are too large to be added up over {} states", most,
                     beta > 1.0 ? fmt::format(" times beta = {}", beta) : "", model.states());
  }
  if (!solver.stochastic && !model.is_deterministic()) {
    throw user_error(
        "method '{}' takes deterministic models only; this one is stochastic "
        "(z-averaged and z-variational take it)",
        solver.name);
  }
}

}  // namespace

void check_answer(const Model& model, const Solver& solver, const Solution& solution) {
  const auto check = [&](const std::vector<double>& values, const char* what, bool may_not_end) {
    CHECK(values.size() == static_cast<size_t>(model.states()), "{}: {} of {} states", solver.name,
          what, values.size());
    for (State s = 0; s < model.states(); ++s) {
      CHECK(!std::isnan(values[static_cast<size_t>(s)]), "{}: the {} of state '{}' is not a number",
            solver.name, what, model.state_name(s));
      if (values[static_cast<size_t>(s)] < INFINITY) continue;
      throw user_error("method '{}': the {} of state '{}' is too large for a number", solver.name,
                       what, model.state_name(s));
    }
    for (const Start& start : model.start()) {
      if (may_not_end || values[static_cast<size_t>(start.state)] > -INFINITY) continue;
      throw user_error(
          "method '{}' has no {} for the start state '{}': it is beyond what numbers "
          "can hold",
          solver.name, what, model.state_name(start.state));
    }
  };
  check(solution.value, "value", solver.answer == Solver::Answer::kPolicyValue);
  if (!solution.log_z.empty()) check(solution.log_z, "log Z", false);
  if (!solution.policy_value.empty()) check(solution.policy_value, "value of the policy", true);
  CHECK(solution.residual >= 0.0 && std::isfinite(solution.residual), "{}: a residual of {}",
        solver.name, solution.residual);
  CHECK(solution.bound >= 0.0, "{}: an error bound of {}", solver.name, solution.bound);
}

std::string default_method(const Model& model, const SolveOptions& options) {
  const bool discounted = !options.mu && options.discount.value_or(model.discount()) < 1.0;
  if (discounted || model.terminals().empty()) return "modified-pi";
  return model.is_deterministic() ? "z" : "z-variational";
}

SolveParameter tolerance_parameter() {
  return parameter("tolerance", &SolveOptions::tolerance, kAboveZero, kFinite,
                   "largest error of what is printed");
}

SolveParameter sweeps_parameter() {
  return parameter("max-sweeps", &SolveOptions::max_sweeps, 0, 0x1p53,
                   "give up after so many sweeps");
}

std::vector<SolveParameter> iteration_parameters() {
  return {tolerance_parameter(), sweeps_parameter()};
}

std::vector<SolveParameter> thermal_parameters() {
  return {parameter("beta", &SolveOptions::beta, 0, INFINITY, "inverse temperature, 0 to inf"),
          parameter("mu", &SolveOptions::mu, -kFinite, kFinite,
                    "chemical potential (default: -log d - .1)"),
          tolerance_parameter()};
}

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
  const Solver& solver = find_solver(method.empty() ? default_method(model, options) : method);
  check_options(options);
  check_model(model, solver, options);
  const auto begin = std::chrono::steady_clock::now();
  Solution solution = solver.run(model, options);
  check_answer(model, solver, solution);
  solution.method = solver.name;
  solution.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return solution;
}

}  // namespace agora::planning

#include "planning/z/partition.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "planning/model/parts.h"
#include "planning/z/krylov.h"
#include "planning/z/partition_problem.h"
#include "planning/z/path_system.h"
#include "planning/z/z_solver.h"

namespace agora::planning {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kWeightError = 4e-15;  // of the weights of a folded system, relative

// Expected reward of a step under the policy, by position, divided like the rows of the system.
// Z is z exp(phi): phi alone is rounded.
std::vector<double> step_rewards(const PartitionProblem& problem, const PathSystem& system,
                                 const std::vector<double>& z) {
  const Model& model = problem.model;
  std::vector<double> r = system.visits();
  const bool constant = model.rewards().constant();
  in_parts(system.size() - system.ends(), [&](int64_t from, int64_t until) {
    for (int32_t p = static_cast<int32_t>(from) + system.ends();
         p < static_cast<int32_t>(until) + system.ends(); ++p) {
      if (constant) {  // the policy's probabilities sum to one
        r[static_cast<size_t>(p)] *= model.rewards()[0];
        continue;
      }
      const State s = system.state(p);
      const double from_phi = system.phi()[static_cast<size_t>(p)];
      double sum = 0.0, total = 0.0;
      for (Action a = 0; a < model.actions(); ++a) {
        for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
          const auto t = model.transition(s, a, i);
          const int32_t to = system.position(t.next);
          if (to < 0) continue;
          const double weight =
              z[static_cast<size_t>(to)] * std::exp(problem.weights.at(s, a, i).between(
                                               from_phi, system.phi()[static_cast<size_t>(to)]));
          sum += t.reward * weight;
          total += weight;
        }
      }
      r[static_cast<size_t>(p)] *= sum / total;
    }
  });
  return r;
}

// pi = w(s,t) Z(t) / Z(s), state by state so that memory is read in order.
void fill_policy(const PartitionProblem& problem, Solution& solution) {
  const Model& model = problem.model;
  const size_t d = static_cast<size_t>(model.actions());
  const std::vector<double>& log_z = solution.log_z;
  solution.policy.actions = model.actions();
  solution.policy.probabilities.assign(log_z.size() * d, 0.0);
  if (!model.is_deterministic()) {
    solution.joint_policy.assign(static_cast<size_t>(model.transitions()), 0.0);
  }
  in_parts(model.states(), [&](int64_t from, int64_t until) {
    for (State s = static_cast<State>(from); s < static_cast<State>(until); ++s) {
      const double own = log_z[static_cast<size_t>(s)];
      if (own == -INFINITY) continue;
      double* row = &solution.policy.probabilities[static_cast<size_t>(s) * d];
      double sum = 0.0;
      for (Action a = 0; a < model.actions(); ++a) {
        for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
          const double then = log_z[static_cast<size_t>(model.transition(s, a, i).next)];
          if (then == -INFINITY) continue;
          const double probability = std::exp(problem.weights.at(s, a, i).between(own, then));
          row[a] += probability;
          sum += probability;
          if (!solution.joint_policy.empty()) {
            solution.joint_policy[model.row_begin()[static_cast<size_t>(model.row(s, a))] +
                                  static_cast<size_t>(i)] = probability;
          }
        }
      }
      if (sum == 0.0) continue;  // terminal
      for (size_t a = 0; a < d; ++a) row[a] /= sum;
    }
  });
}

// Best paths without loops: their sums in one pass.
void count_limit_paths(const PartitionProblem& problem, Solution& solution) {
  const Model& model = problem.model;
  const LimitPaths& best = problem.best;
  const size_t n = static_cast<size_t>(model.states());
  solution.value = best.value;
  solution.log_z.assign(n, -INFINITY);
  std::vector<double> exponents;
  for (const State s : best.order) {
    exponents.clear();
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a) || !best.is_best(model, s, a)) continue;
      const State next = model.transition(s, a, 0).next;
      exponents.push_back(problem.mu + solution.log_z[static_cast<size_t>(next)]);
    }
    double& own = solution.log_z[static_cast<size_t>(s)];
    own = 0.0;
    if (exponents.empty()) continue;
    const double top = *std::max_element(exponents.begin(), exponents.end());
    for (const double exponent : exponents) own += std::exp(exponent - top);
    own = top + std::log(own);
  }
  solution.sweeps = 1;
  solution.bound = 0.0;
  for (size_t s = 0; s < n; ++s) {
    if (solution.log_z[s] == -INFINITY) continue;
    // Each of a path's steps rounds once, by no more than its last and largest sum does.
    const double steps = std::abs(solution.log_z[s] / problem.mu) + 1.0;
    solution.bound = std::max({solution.bound, best.rounding[s],
                               2.0 * kEpsilon * steps * (std::abs(solution.log_z[s]) + 1.0)});
  }
}

// Fills all of the solution but its policy; beta and mu are set.
void solve_in(const PartitionProblem& problem, const SolveOptions& options, PartitionMethod method,
              bool cautious, Solution& solution) {
  const Model& model = problem.model;
  PathOrder order = path_order(model, problem.weights);
  require_live_start(model, [&](State s) { return order.position[static_cast<size_t>(s)] >= 0; });
  if (order.diverges) throw user_error("{}", problem.diverges("a loop of steps has weight > 1"));
  if (!options.warm_start.empty() && !cautious) {
    CHECK(options.warm_start.size() == static_cast<size_t>(model.states()), "warm start size");
    for (size_t p = static_cast<size_t>(order.ends); p < order.state.size(); ++p) {
      const double log_z = options.warm_start[static_cast<size_t>(order.state[p])];
      if (std::isfinite(log_z)) order.log_sum[p] = log_z - problem.shift;
    }
  }
  PathSystem system(model, std::move(order), problem.weights);
  if (system.loops_diverge()) {
    throw user_error("{}", problem.diverges("an action that stays in its state has weight >= 1"));
  }
  if (cautious) system.be_cautious();
  ZSolver solver(system, problem, method, options);
  const size_t n = static_cast<size_t>(system.size());
  const double scale =
      std::max({std::abs(model.rewards().min()), std::abs(model.rewards().max()), 1e-300});

  // Expected steps bound the error: |log Z error| <= residual * steps.
  solver.reach(kFirstTarget);
  solver.fold();
  std::vector<double> steps(n, 0.0), value(n, 0.0);
  const bool direct = method == PartitionMethod::kLinear && system.size() <= kDirectLimit;
  int64_t value_sweeps = solve_values(system, system.visits(), steps, 1e-3, direct);
  // Steps that fall short of their equation by less than one in ten are at most a ninth too few.
  const double short_of = system.value_residual(system.visits(), steps);
  const double longest = 1.15 * (1.0 + *std::max_element(steps.begin(), steps.end()));
  if (!(short_of < 0.1) || !(longest * kRoundingIsLeft < 1.0) ||
      *std::min_element(steps.begin(), steps.end()) < 0.0) {
    throw user_error("{}", problem.not_found("mu is too near to where Z diverges"));
  }
  solver.reach(std::clamp(options.tolerance / (4.0 * longest * std::max(1.0, longest * scale)),
                          kRoundOff, kFirstTarget));

  // V = d log Z / d beta: the derivative of the linear equation, with the same matrix.
  for (int32_t p = 0; p < system.ends(); ++p) {
    value[static_cast<size_t>(p)] = model.terminal_reward(system.state(p));
  }
  double value_residual = 0.0, largest = 0.0;
  const bool limit = std::isinf(options.beta);
  const auto r = limit ? std::vector<double>{} : step_rewards(problem, system, solver.z());
  solver.fold();
  solution.residual = solver.residual();
  if (limit) {
    for (int32_t p = 0; p < system.size(); ++p) {
      const size_t s = static_cast<size_t>(system.state(p));
      value[static_cast<size_t>(p)] = problem.best.value[s];
      value_residual = std::max(value_residual, problem.best.rounding[s] / longest);
    }
  } else {
    if (model.rewards().constant() && problem.shift == problem.beta * value[0]) {
      for (size_t p = static_cast<size_t>(system.ends()); p < n; ++p) {
        value[p] = value[0] + model.rewards()[0] * steps[p];  // a start near the answer
      }
    }
    value_sweeps += solve_values(
        system, r, value, std::max(options.tolerance / (4.0 * longest), 1e-13 * scale * longest),
        direct);
    value_residual = system.value_residual(r, value);
  }
  for (size_t p = 0; p < n; ++p) {
    largest = larger(largest, std::abs(system.phi()[p] + problem.shift) + std::abs(value[p]));
  }
  const double log_z_error = (solution.residual + kWeightError) * longest;
  solution.bound = kEpsilon * largest +
                   std::max(log_z_error, (limit ? 0.0 : 2.0 * log_z_error * longest * scale) +
                                             value_residual * longest);
  if (solution.bound > options.tolerance) {
    solution.warnings.push_back(
        fmt::format("rounding allows an error bound of {:.3g} only, not {:.3g}", solution.bound,
                    options.tolerance));
  }
  solution.sweeps = solver.sweeps() + value_sweeps;
  solution.value.assign(static_cast<size_t>(model.states()), -INFINITY);
  solution.log_z.assign(static_cast<size_t>(model.states()), -INFINITY);
  in_parts(model.states(), [&](int64_t from, int64_t until) {
    for (size_t s = static_cast<size_t>(from); s < static_cast<size_t>(until); ++s) {
      const int32_t p = system.position(static_cast<State>(s));
      if (p < 0) continue;
      solution.value[s] = value[static_cast<size_t>(p)];
      solution.log_z[s] = system.phi()[static_cast<size_t>(p)] + problem.shift;
    }
  });
}

}  // namespace

Action most_actions(const Model& model) {
  Action most = 1;
  for (State s = 0; s < model.states() && most < model.actions(); ++s) {
    Action count = 0;
    for (Action a = 0; a < model.actions(); ++a) count += model.has(s, a);
    most = std::max(most, count);
  }
  return most;
}

std::string partition_diverges(double beta, double mu, double sufficient, const std::string& why) {
  return fmt::format(
      "Z diverges at beta = {}, mu = {}: {}; longer paths must weigh less, mu = {:.4g} works", beta,
      mu, why, sufficient - 0.1);
}

std::string partition_not_found(double beta, double mu, double sufficient, const std::string& why) {
  if (mu < sufficient) {
    return fmt::format("Z exists at beta = {}, mu = {} but was not found: {}", beta, mu, why);
  }
  return fmt::format(
      "Z was not found at beta = {}, mu = {}, where it may not exist: {}; mu = {:.4g} works", beta,
      mu, why, sufficient - 0.1);
}

std::string insufficient_mu(double mu, double sufficient) {
  return fmt::format(
      "mu = {:.6g} is not below {:.6g} = -log d - beta max(0, R_max), which is "
      "sufficient for Z to exist",
      mu, sufficient);
}

double default_mu(const Model& model) { return -std::log(most_actions(model)) - 0.1; }

void require_an_end(const Model& model) {
  if (model.terminals().empty()) throw user_error("{}", kNoEnd);
}

void require_live_start(const Model& model, const std::function<bool(State)>& is_live) {
  for (const Start& start : model.start()) {
    if (is_live(start.state)) continue;
    throw user_error("start state '{}' cannot reach a terminal state",
                     model.state_name(start.state));
  }
}

Solution solve_partition(const Model& model, const SolveOptions& options, PartitionMethod method) {
  require_an_end(model);
  Solution solution;
  solution.beta = options.beta;
  solution.mu = options.mu.value_or(default_mu(model));
  if (!std::isfinite(solution.mu)) throw user_error("mu is {}; expected a number", solution.mu);
  const PartitionProblem problem(model, solution.beta, solution.mu);
  if (solution.mu >= problem.sufficient) {
    solution.warnings.push_back(insufficient_mu(solution.mu, problem.sufficient));
  }
  if (options.discount.value_or(model.discount()) < 1.0) {
    solution.warnings.push_back("the partition function has no discount; mu takes its place");
  }

  if (!problem.best.order.empty()) {
    require_live_start(
        model, [&](State s) { return problem.best.value[static_cast<size_t>(s)] > -INFINITY; });
    count_limit_paths(problem, solution);
  } else {
    try {
      solve_in(problem, options, method, false, solution);
    } catch (const SweepsFailed&) {
      try {
        solve_in(problem, options, method, true, solution);
      } catch (const SweepsFailed&) {
        throw user_error("{}", problem.not_found("sums over paths leave the range of numbers"));
      }
    }
  }
  fill_policy(problem, solution);  // the system is gone: its memory is needed here
  return solution;
}

}  // namespace agora::planning

#include "planning/partition.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "planning/divergence.h"
#include "planning/krylov.h"
#include "planning/optimum.h"
#include "planning/parts.h"
#include "planning/path_system.h"

namespace agora::planning {
namespace {

// Beta, or its limit at infinity, turned into weights: eq. z-bellman, eq. avgBellman.
struct Problem {
  const Model& model;
  double beta, mu;
  std::vector<double> best;  // optimal values, for beta = infinity
  LogWeights weights;

  Problem(const Model& model_in, double beta_in, double mu_in)
      : model(model_in), beta(beta_in), mu(mu_in) {
    if (std::isinf(beta)) {
      set_limit_weights();
      return;
    }
    for (const Terminal& end : model.terminals()) weights.end.push_back(beta * end.reward);
    const bool same_ends = std::all_of(weights.end.begin(), weights.end.end(),
                                       [&](double w) { return w == weights.end[0]; });
    if (same_ends && !weights.end.empty()) {
      shift = weights.end[0];  // a common factor of Z, put back by finish()
      std::fill(weights.end.begin(), weights.end.end(), 0.0);
    }
    if (model.is_deterministic() && model.rewards().constant()) {
      weights.uniform = beta * model.rewards()[0] + mu;
    } else if (model.is_deterministic()) {
      weights.transition = [this](State s, Action a, int64_t) {
        return beta * model.rewards()[model.row(s, a)] + mu;
      };
    } else {
      weights.transition = [this](State s, Action a, int64_t i) {
        const auto t = model.transition(s, a, i);
        return std::log(t.probability) + beta * t.reward + mu;
      };
    }
  }
  Problem(const Problem&) = delete;

  // Appendix "Boltzmann-like": only the best paths are left, counted with exp(mu) a step.
  void set_limit_weights() {
    SolveOptions total;
    total.discount = 1.0;
    total.tolerance = 1e-10;
    best = optimal_values(model, total).value;
    weights.end.assign(model.terminals().size(), 0.0);
    weights.transition = [this](State s, Action a, int64_t i) {
      const auto t = model.transition(s, a, i);
      const double own = best[static_cast<size_t>(s)];
      const double through = t.reward + best[static_cast<size_t>(t.next)];
      return std::abs(own - through) <= 1e-9 * (1.0 + std::abs(own)) ? mu : -INFINITY;
    };
  }
  double shift = 0.0;
};

double sufficient_mu(const Problem& problem) {
  const double gain = std::max(0.0, problem.model.rewards().max());
  return -std::log(most_actions(problem.model)) -
         (std::isinf(problem.beta) ? 0.0 : problem.beta * gain);
}

std::string failure(const Problem& problem, const std::string& why) {
  return no_partition_function(problem.beta, problem.mu, sufficient_mu(problem), why);
}

struct SweepsFailed {};

// Solves the system for z, folded into phi. Returns the sweeps (or iterations) done.
class ZSolver {
 public:
  ZSolver(PathSystem& system, const Problem& problem, PartitionMethod method,
          const SolveOptions& options)
      : system_(system),
        problem_(problem),
        method_(method),
        options_(options),
        z_(static_cast<size_t>(system.size()), 1.0) {}

  int64_t sweeps() const { return sweeps_; }
  double residual() const { return residual_; }

  void reach(double target) {
    switch (method_) {
      case PartitionMethod::kPower:
        power(target);
        break;
      case PartitionMethod::kLinear:
        linear(target);
        break;
      case PartitionMethod::kSweeps:
        sweep(target, false);
        break;
      case PartitionMethod::kAutomatic:
        sweep(target, true);
        break;
    }
    system_.fold(z_);
    residual_ = system_.residual(z_);
  }

 private:
  void count(int64_t sweeps) {
    sweeps_ += sweeps;
    if (options_.progress) options_.progress(sweeps_, residual_);
    if (sweeps_ <= options_.max_sweeps) return;
    throw user_error("Z has not converged after {} sweeps (relative residual {:.3g})", sweeps_,
                     residual_);
  }

  void sweep(double target, bool may_take_over) {
    double check = INFINITY;  // residual eight cycles ago
    for (int since_check = 0; residual_ > target;) {
      residual_ = system_.z_cycle(z_);
      count(2 * PathSystem::kCycle);
      if (!std::isfinite(residual_)) throw SweepsFailed{};
      if (++since_check < 8) continue;
      since_check = 0;
      if (residual_ > 0.3 * check) {
        if (residual_ < 100.0 * kRoundOff) return;  // rounding is all that is left
        refuse_divergence(may_take_over ? 256 : 64);
        if (may_take_over) return linear(target);
      }
      check = residual_;
    }
  }

  void refuse_divergence(int iterations) {
    if (problem_.mu < sufficient_mu(problem_)) return;
    if (!divergence_) {
      divergence_.emplace(problem_.model, problem_.weights, system_.positions(), system_.ends());
    }
    if (divergence_->search(iterations)) {
      throw user_error("{}", failure(problem_, "sums over paths that do not end grow"));
    }
  }

  // (I - P) e = P 1 - 1 in the folded system, z = 1 + e.
  void linear(double target) {
    if (sweeps_ == 0 && system_.size() > kDirectLimit) refuse_divergence(32);
    if (std::isinf(residual_)) residual_ = system_.residual(z_);
    for (int round = 0; residual_ > target; ++round) {
      const double before = residual_;
      if (round > 0 || method_ == PartitionMethod::kAutomatic) system_.fold(z_);
      if (method_ == PartitionMethod::kLinear && round == 0) {
        for (int k = 0; k < 3; ++k) system_.z_cycle(z_);
        system_.fold(z_);
      }
      std::vector<double> right(z_.size()), change(z_.size(), 0.0);
      system_.apply(z_, right);
      for (double& value : right) value = -value;
      std::fill(right.begin(), right.begin() + system_.ends(), 0.0);
      if (system_.size() <= kDirectLimit) {
        direct_solve(system_, right, change);
        count(1);
      } else {
        count(krylov_solve(system_, right, change, std::max(target, 1e-3 * before), 400));
      }
      for (size_t p = 0; p < z_.size(); ++p) z_[p] += change[p];
      if (*std::min_element(z_.begin(), z_.end()) <= 0.0) {
        // Not positive: either not solved yet, or the sum over paths does not exist.
        if (system_.size() <= kDirectLimit || round > 8) {
          throw user_error("{}", failure(problem_, "the linear equation has no positive solution"));
        }
        refuse_divergence(512);
        for (double& value : z_) value = std::max(value, 0.1);
      }
      residual_ = system_.residual(z_);
      if (residual_ > 0.5 * before && round > 0) {
        if (residual_ < 100.0 * kRoundOff) return;
        if (round > 12) {
          throw user_error("{}", failure(problem_, "the linear equation could not be solved"));
        }
      }
    }
  }

  void power(double target) {
    std::vector<double> scratch;
    if (sweeps_ == 0 && system_.size() > kDirectLimit) refuse_divergence(32);
    if (std::isinf(residual_)) residual_ = system_.residual(z_);
    while (residual_ > target) {
      for (int k = 0; k < 8; ++k) {
        const double change = system_.power_sweep(z_, scratch);
        ++sweeps_;
        if (options_.progress) options_.progress(sweeps_, change);
      }
      const double before = residual_;
      residual_ = system_.residual(z_);
      if (residual_ < 100.0 * kRoundOff && residual_ >= before) return;
      if (!std::isfinite(residual_)) {
        throw user_error("{}", failure(problem_, "the power iteration grows without bound"));
      }
      if (sweeps_ > options_.max_sweeps) {
        throw user_error("Z has not converged after {} sweeps (relative residual {:.3g})", sweeps_,
                         residual_);
      }
      if (*std::max_element(z_.begin(), z_.end()) > 1e100) {
        system_.fold(z_);
        refuse_divergence(64);
      }
    }
  }

  PathSystem& system_;
  const Problem& problem_;
  PartitionMethod method_;
  const SolveOptions& options_;
  std::vector<double> z_;
  int64_t sweeps_ = 0;
  double residual_ = INFINITY;
  std::optional<DivergenceProof> divergence_;
};

// Expected reward of a step under the policy, by position, divided like the rows of the system.
std::vector<double> step_rewards(const Problem& problem, const PathSystem& system) {
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
      double sum = 0.0;
      for (Action a = 0; a < model.actions(); ++a) {
        for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
          const auto t = model.transition(s, a, i);
          const int32_t to = system.position(t.next);
          if (to < 0) continue;
          sum +=
              t.reward * std::exp(problem.weights(s, a, i) + system.phi()[static_cast<size_t>(to)] -
                                  system.phi()[static_cast<size_t>(p)]);
        }
      }
      r[static_cast<size_t>(p)] *= sum;
    }
  });
  return r;
}

// pi = w(s,t) Z(t) / Z(s), state by state so that memory is read in order.
void fill_policy(const Problem& problem, Solution& solution) {
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
          const double probability =
              std::exp(problem.weights(s, a, i) +
                       log_z[static_cast<size_t>(model.transition(s, a, i).next)] - own);
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

// Fills all of the solution but its policy; beta and mu are set.
void solve_in(const Problem& problem, const SolveOptions& options, PartitionMethod method,
              bool cautious, Solution& solution) {
  const Model& model = problem.model;
  PathOrder order = path_order(model, problem.weights);
  require_live_start(model, [&](State s) { return order.position[static_cast<size_t>(s)] >= 0; });
  if (!options.warm_start.empty() && !cautious) {
    CHECK(options.warm_start.size() == static_cast<size_t>(model.states()), "warm start size");
    for (size_t p = static_cast<size_t>(order.ends); p < order.state.size(); ++p) {
      const double log_z = options.warm_start[static_cast<size_t>(order.state[p])];
      if (std::isfinite(log_z)) order.log_sum[p] = log_z - problem.shift;
    }
  }
  PathSystem system(model, std::move(order), problem.weights);
  if (system.loops_diverge()) {
    throw user_error("{}", failure(problem, "an action that stays in its state has weight >= 1"));
  }
  if (cautious) system.be_cautious();
  ZSolver solver(system, problem, method, options);
  const size_t n = static_cast<size_t>(system.size());
  const double scale =
      std::max({std::abs(model.rewards().min()), std::abs(model.rewards().max()), 1e-300});

  // Expected steps bound the error: |log Z error| <= residual * steps.
  solver.reach(kFirstTarget);
  std::vector<double> steps(n, 0.0), value(n, 0.0);
  const bool direct = method == PartitionMethod::kLinear && system.size() <= kDirectLimit;
  int64_t value_sweeps = solve_values(system, system.visits(), steps, 1e-3, direct);
  const double longest = 1.01 * (1.0 + *std::max_element(steps.begin(), steps.end()));
  solver.reach(std::clamp(options.tolerance / (4.0 * longest * std::max(1.0, longest * scale)),
                          kRoundOff, kFirstTarget));
  solution.residual = solver.residual();

  // V = d log Z / d beta: the derivative of the linear equation, with the same matrix.
  for (int32_t p = 0; p < system.ends(); ++p) {
    value[static_cast<size_t>(p)] = model.terminal_reward(system.state(p));
  }
  double value_residual = 0.0;
  if (std::isinf(options.beta)) {
    for (int32_t p = 0; p < system.size(); ++p) {
      value[static_cast<size_t>(p)] = problem.best[static_cast<size_t>(system.state(p))];
    }
  } else {
    if (model.rewards().constant() && problem.shift == problem.beta * value[0]) {
      for (size_t p = static_cast<size_t>(system.ends()); p < n; ++p) {
        value[p] = value[0] + model.rewards()[0] * steps[p];  // a start near the answer
      }
    }
    const auto r = step_rewards(problem, system);
    value_sweeps += solve_values(
        system, r, value, std::max(options.tolerance / (4.0 * longest), 1e-13 * scale * longest),
        direct);
    value_residual = system.value_residual(r, value);
  }
  const double log_z_error = solution.residual * longest;
  solution.bound =
      std::max(log_z_error, 2.0 * log_z_error * longest * scale + value_residual * longest);
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

std::string no_partition_function(double beta, double mu, double sufficient,
                                  const std::string& why) {
  if (mu < sufficient) {
    return fmt::format(
        "Z exists at beta = {}, mu = {} but was not found: {}; z-power is slow and sure", beta, mu,
        why);
  }
  return fmt::format(
      "Z diverges at beta = {}, mu = {}: {}; longer paths must weigh less, mu = {:.4g} works", beta,
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
  const Problem problem(model, solution.beta, solution.mu);
  const double sufficient = sufficient_mu(problem);
  if (solution.mu >= sufficient) {
    solution.warnings.push_back(insufficient_mu(solution.mu, sufficient));
  }
  if (options.discount.value_or(model.discount()) < 1.0) {
    solution.warnings.push_back("the partition function has no discount; mu takes its place");
  }

  try {
    solve_in(problem, options, method, false, solution);
  } catch (const SweepsFailed&) {
    try {
      solve_in(problem, options, method, true, solution);
    } catch (const SweepsFailed&) {
      throw user_error("{}", failure(problem, "sums over paths grow without bound"));
    }
  }
  fill_policy(problem, solution);  // the system is gone: its memory is needed here
  return solution;
}

}  // namespace agora::planning

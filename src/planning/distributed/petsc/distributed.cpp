#include "planning/distributed/distributed.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <new>
#include <optional>

#include "base/thread_pool.h"
#include "planning/distributed/petsc/ranks.h"
#include "planning/distributed/petsc/reading.h"
#include "planning/distributed/petsc/shared_system.h"
#include "planning/model/parts.h"
#include "planning/z/partition.h"

namespace agora::planning {
namespace {

int error_output = STDERR_FILENO;  // for a rank's last words

// What the ranks know of the whole model together.
struct Whole {
  Action most_actions = 1;
  double least_reward = 0.0, largest_reward = 0.0;

  Whole(const Ranks& ranks, const ModelShare& share) {
    const bool any = share.own > 0;
    double ends = 0.0;
    for (const Terminal& end : share.model.terminals()) ends += any && end.state < share.own;
    if (ranks.sum(ends) == 0.0) throw user_error("{}", kNoEnd);
    most_actions = static_cast<Action>(
        ranks.largest(any ? static_cast<double>(planning::most_actions(share.model)) : 1.0));
    largest_reward = ranks.largest(any ? share.model.rewards().max() : -INFINITY);
    least_reward = ranks.least(any ? share.model.rewards().min() : INFINITY);
  }
};

// Z, steps and V by PETSc, as partition.cpp does it in one process.
class SharedSolver {
 public:
  SharedSolver(const Ranks& ranks, const ModelShare& share, const SolveOptions& options)
      : ranks_(ranks), share_(share), options_(options), whole_(ranks, share) {
    if (std::isinf(options.beta)) throw user_error("method 'z-petsc' takes a finite beta only");
    solution.beta = options.beta;
    solution.mu = options.mu.value_or(-std::log(whole_.most_actions) - 0.1);
    if (!std::isfinite(solution.mu)) throw user_error("mu is {}; expected a number", solution.mu);
    sufficient_ =
        -std::log(whole_.most_actions) - options.beta * std::max(0.0, whole_.largest_reward);
    if (solution.mu >= sufficient_) {
      solution.warnings.push_back(insufficient_mu(solution.mu, sufficient_));
    }
    system_.emplace(ranks, share, options.beta, solution.mu);
  }

  const SharedSystem& system() const { return *system_; }
  Solution solution;  // of the own states

  void run() {
    const size_t own = static_cast<size_t>(share_.own);
    const double scale =
        std::max({std::abs(whole_.least_reward), std::abs(whole_.largest_reward), 1e-300});
    solution.sweeps += system_->sweep();
    reach(kFirstTarget);
    // Expected steps bound the error: |log Z error| <= residual * steps.
    std::vector<double> steps(own, 0.0);
    solve(system_->step_rewards([](double) { return 1.0; }), steps, 1e-3);
    const double most = own == 0 ? 0.0 : *std::max_element(steps.begin(), steps.end());
    const double longest = 1.01 * (1.0 + ranks_.largest(most));
    reach(std::clamp(options_.tolerance / (4.0 * longest * std::max(1.0, longest * scale)),
                     kRoundOff, kFirstTarget));
    solution.residual = residual_;

    // V = d log Z / d beta: the derivative of the linear equation, with the same matrix.
    std::vector<double> right = system_->step_rewards([](double reward) { return reward; });
    for (const auto& [s, reward] : share_.model.terminals()) {
      if (s < share_.own) right[static_cast<size_t>(s)] = reward;
    }
    std::vector<double>& value = solution.value = right;
    const double off = solve(
        right, value, std::max(options_.tolerance / (4.0 * longest), 1e-13 * scale * longest));
    const double log_z_error = residual_ * longest;
    solution.bound = std::max(log_z_error, 2.0 * log_z_error * longest * scale + off * longest);
    if (solution.bound > options_.tolerance) {
      solution.warnings.push_back(
          fmt::format("rounding allows an error bound of {:.3g} only, not {:.3g}", solution.bound,
                      options_.tolerance));
    }
    solution.log_z.assign(system_->phi().begin(), system_->phi().begin() + share_.own);
    solution.policy.actions = share_.model.actions();
    for (State s = 0; s < share_.own; ++s) {
      if (!system_->live(s)) value[static_cast<size_t>(s)] = -INFINITY;
      for (const double p : system_->policy(s)) {
        solution.policy.probabilities.push_back(p > 0.0 ? p : 0.0);
      }
    }
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw user_error("{}", partition_not_found(solution.beta, solution.mu, sufficient_, why));
  }

  // (I - P) e = P 1 - 1, then phi += log(1 + e), until the relative residual is small.
  void reach(double target) {
    const size_t own = static_cast<size_t>(share_.own);
    double before = INFINITY;
    for (int round = 0, stalled = 0;; ++round) {
      residual_ = system_->assemble();
      if (std::isinf(residual_)) {
        throw user_error("{}", partition_diverges(solution.beta, solution.mu, sufficient_,
                                                  "an action that stays in its state has weight "
                                                  ">= 1"));
      }
      if (residual_ <= target) return;
      if (residual_ > 0.5 * before) {
        if (residual_ < 100.0 * kRoundOff) return;
        if (++stalled > 12) fail("the linear equation could not be solved");
      }
      before = residual_;
      std::vector<double> z(own, 0.0);
      solution.sweeps += system_->solve(system_->excess(), z, 1e-3, 0.1 * target);
      bool positive = true;
      for (double& each : z) {
        each += 1.0;
        if (each > 0.0) continue;
        each = 0.1;
        positive = false;
      }
      // Not positive: either not solved yet, or the sum over paths does not exist.
      if (ranks_.any(!positive) && round > 8) fail("the linear equation has no positive solution");
      system_->fold(z);
    }
  }

  // Returns the largest absolute residual reached.
  double solve(const std::vector<double>& right, std::vector<double>& x, double target) {
    std::vector<double> rest;
    double off = INFINITY;
    for (int round = 0; round < 8; ++round) {
      system_->residual(right, x, rest);
      double mine = 0.0;
      for (const double each : rest) mine = larger(mine, std::abs(each));
      const double now = ranks_.largest(mine);
      if (now <= target || !(now < off)) return now;
      off = now;
      std::vector<double> change(x.size(), 0.0);
      solution.sweeps += system_->solve(rest, change, 1e-10, 0.1 * target);
      for (size_t i = 0; i < x.size(); ++i) x[i] += change[i];
    }
    return off;
  }

  const Ranks& ranks_;
  const ModelShare& share_;
  const SolveOptions& options_;
  Whole whole_;
  double sufficient_ = 0.0, residual_ = INFINITY;
  std::optional<SharedSystem> system_;
};

// The start states, all of which must be able to end.
std::vector<Start> find_start(const Ranks& ranks, const ModelShare& share,
                              const SharedSystem& system) {
  std::vector<Start> start = share.start;
  if (start.empty()) {
    double first = share.total - 1;
    for (State s = share.own; s-- > 0;) {
      if (system.live(s)) first = share.first + s;
    }
    start = {{static_cast<State>(ranks.least(first)), 1.0}};
  }
  ranks.together([&] {
    for (const Start& each : start) {
      const State s = each.state - share.first;
      if (s < 0 || s >= share.own || system.live(s)) continue;
      throw user_error("start state '{}' cannot reach a terminal state", share.name_of(s));
    }
  });
  return start;
}

// Fills what is told of the start; whoever has a state tells it.
void tell_start(const Ranks& ranks, const ModelShare& share, const SharedSolver& solver,
                const std::vector<Start>& start, DistributedSolution& answer) {
  std::vector<std::string> names;
  std::vector<double> policy;
  double value = 0.0, log_z = 0.0;
  for (const auto& [state, probability] : start) {
    const State s = state - share.first;
    if (s < 0 || s >= share.own) continue;
    value += probability * solver.solution.value[static_cast<size_t>(s)];
    log_z += probability * solver.solution.log_z[static_cast<size_t>(s)];
    if (start.size() > 1) continue;
    names.push_back(share.name_of(s));
    if (!share.model.terminal(s)) policy = solver.system().policy(s);
  }
  answer.value = ranks.sum(value);
  answer.log_z = ranks.sum(log_z);
  names = ranks.gathered(names);
  answer.start = names.empty() ? fmt::format("{} states", start.size()) : names[0];
  answer.policy = ranks.gathered(policy);
  std::vector<std::string> actions;
  if (share.own > 0 && share.first == 0) {
    for (Action a = 0; a < share.model.actions(); ++a)
      actions.push_back(share.model.action_name(a));
  }
  answer.actions = ranks.gathered(actions);
}

DistributedSolution solve_together(const Ranks& ranks, const std::string& source,
                                   const LoadOptions& load, const SolveOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  DistributedSolution answer{.share = read_share(ranks, source, load), .ranks = ranks.size()};
  SharedSolver solver(ranks, answer.share, options);
  const std::vector<Start> start = find_start(ranks, answer.share, solver.system());
  solver.run();
  tell_start(ranks, answer.share, solver, start, answer);
  CHECK(std::isfinite(answer.value) && std::isfinite(answer.log_z) &&
            std::isfinite(solver.solution.residual) && !std::isnan(solver.solution.bound),
        "z-petsc: value {}, log Z {}, residual {}", answer.value, answer.log_z,
        solver.solution.residual);
  answer.solver = solver.system().solver_words();
  answer.solution = std::move(solver.solution);
  answer.solution.method = "z-petsc";
  answer.solution.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return answer;
}

}  // namespace

std::string petsc_description() {
  return fmt::format("PETSc {}.{}.{}", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                     PETSC_VERSION_SUBMINOR);
}

void join_processes() {
  const Ranks& ranks = Ranks::all();
  if (ranks.size() == 1) return;
  set_default_threads(1);
  error_output = dup(STDERR_FILENO);
  if (ranks.rank() == 0) return;
  const bool quiet =
      std::freopen("/dev/null", "w", stdout) && std::freopen("/dev/null", "w", stderr);
  CHECK(quiet, "/dev/null cannot be opened");
}

DistributedSolution solve_distributed(const std::string& source, const LoadOptions& load,
                                      const SolveOptions& options) {
  const Ranks& ranks = Ranks::all();
  if (ranks.size() == 1) return solve_together(ranks, source, load, options);
  // Mistakes and interrupts are thrown by all ranks alike. Whatever else one of them meets would
  // leave the others waiting.
  const auto abandon = [&](const std::string& line, int status) {
    dprintf(error_output, "agora: rank %d: %s\n", ranks.rank(), line.c_str());
    MPI_Abort(PETSC_COMM_WORLD, status);
  };
  try {
    return solve_together(ranks, source, load, options);
  } catch (const UserError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    abandon("out of memory", 2);
    throw;
  } catch (const std::exception& fault) {
    abandon(fmt::format("internal fault: {}", fault.what()), 1);
    throw;
  }
}

Solution solve_with_petsc(const Model& model, const SolveOptions& options) {
  const Ranks& ranks = Ranks::all();
  if (ranks.size() > 1) throw user_error("method 'z-petsc' was given a whole model in one process");
  const ModelShare share = cut_share(model, 0, 1);
  SharedSolver solver(ranks, share, options);
  find_start(ranks, share, solver.system());
  solver.run();
  return std::move(solver.solution);
}

}  // namespace agora::planning

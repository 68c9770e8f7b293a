#include "planning/z/z_solver.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "planning/z/krylov.h"

namespace agora::planning {
namespace {

constexpr int kCyclesPerCheck = 8;

bool all_positive(const std::vector<double>& z) {
  return std::all_of(z.begin(), z.end(), [](double x) { return x > 0.0 && std::isfinite(x); });
}

}  // namespace

ZSolver::ZSolver(PathSystem& system, const PartitionProblem& problem, PartitionMethod method,
                 const SolveOptions& options)
    : system_(system),
      problem_(problem),
      method_(method),
      options_(options),
      z_(static_cast<size_t>(system.size()), 1.0) {}

void ZSolver::reach(double target) {
  constexpr int kMostRounds = 50;
  for (int round = 0; round < kMostRounds; ++round) {
    run(target);
    if (!system_.has_lost_weights()) return;
    // What was lost must not matter at the phi that was found.
    system_.rebuild(problem_.model, problem_.weights, z_);
    residual_ = system_.residual(z_);
    if (residual_ <= std::max(target, kRoundingIsLeft)) return;
    if (!std::isfinite(residual_)) throw SweepsFailed{};
  }
  throw user_error("{}", problem_.not_found("its size varies too much from state to state"));
}

void ZSolver::fold() {
  system_.fold(z_);
  residual_ = system_.residual(z_);
}

void ZSolver::run(double target) {
  switch (method_) {
    case PartitionMethod::kPower:
      return power(target);
    case PartitionMethod::kLinear:
      return linear(target);
    case PartitionMethod::kSweeps:
      return sweep(target, false);
    case PartitionMethod::kAutomatic:
      return sweep(target, true);
  }
}

void ZSolver::count(int64_t sweeps) {
  sweeps_ += sweeps;
  if (options_.progress) options_.progress(sweeps_, residual_);
  if (sweeps_ > options_.max_sweeps) give_up();
}

void ZSolver::give_up() const {
  throw user_error("Z has not converged after {} sweeps (relative residual {:.3g})", sweeps_,
                   residual_);
}

void ZSolver::sweep(double target, bool may_take_over) {
  double check = 1e3, least = 1.0;  // the residual at the last check, and the smallest one
  for (int since_check = 0; residual_ > target;) {
    residual_ = system_.z_cycle(z_);
    count(2 * PathSystem::kCycle);
    if (!std::isfinite(residual_)) throw SweepsFailed{};
    if (residual_ > 100.0 * least) system_.be_cautious();  // ratios lead astray here
    least = std::min(least, residual_);
    if (++since_check < kCyclesPerCheck) continue;
    since_check = 0;
    if (residual_ > 0.3 * check) {
      if (residual_ < kRoundingIsLeft) return;
      refuse_divergence(may_take_over ? 256 : 64);
      if (may_take_over) return linear(target);
      if (residual_ > 0.95 * check) return sweep_plainly(target);
    }
    check = residual_;
  }
}

// They converge if Z exists, the slower the nearer mu is to where it does not.
void ZSolver::sweep_plainly(double target) {
  constexpr double kPatience = 2e9;  // updates of a state in which z only grows
  system_.be_cautious();
  if (!all_positive(z_)) std::fill(z_.begin(), z_.end(), 1.0);
  const auto size_of_z = [&] {
    double sum = 0.0;
    for (size_t p = 0; p < z_.size(); ++p) sum += system_.phi()[p] + std::log(z_[p]);
    return sum;
  };
  double check = INFINITY, size = size_of_z(), updates = 0.0;
  for (int cycle = 1; residual_ > target; ++cycle) {
    residual_ = system_.z_cycle(z_);
    count(2 * PathSystem::kCycle);
    if (!std::isfinite(residual_)) throw SweepsFailed{};
    if (cycle % kCyclesPerCheck != 0) continue;
    if (residual_ > 0.3 * check && residual_ < kRoundingIsLeft) return;
    // While z falls from far above, what was too small beside it comes back.
    if (system_.has_lost_weights()) system_.rebuild(problem_.model, problem_.weights, z_);
    const double before = size;
    size = size_of_z();
    if (residual_ > 0.99 * check && size > before) {
      refuse_divergence(64);
      updates += 2.0 * PathSystem::kCycle * kCyclesPerCheck * static_cast<double>(z_.size());
      if (updates > kPatience) {
        throw user_error("{}", problem_.not_found("sums over paths went on growing"));
      }
    }
    check = residual_;
  }
}

void ZSolver::refuse_divergence(int iterations) {
  if (problem_.mu < problem_.sufficient) return;
  if (!divergence_) {
    const LogWeights& weights = problem_.weights;
    divergence_.emplace(problem_.model, weights.transition ? NAN : weights.uniform.sum(), system_);
  }
  if (divergence_->search(iterations)) {
    throw user_error("{}", problem_.diverges("sums over paths that do not end grow"));
  }
}

void ZSolver::linear(double target) {
  const bool direct = system_.size() <= kDirectLimit;
  if (!direct && sweeps_ == 0) refuse_divergence(32);
  if (method_ == PartitionMethod::kLinear && sweeps_ == 0) {
    // Rows of one size make the best pivots.
    for (int k = 0; k < 3; ++k) system_.z_cycle(z_);
    if (!all_positive(z_)) throw SweepsFailed{};
  }
  residual_ = system_.residual(z_);
  for (int round = 0, stalled = 0; residual_ > target; ++round) {
    const double before = residual_;
    system_.fold(z_);
    if (!(direct ? solve_directly() : solve_by_krylov(std::max(target, 1e-3 * before)))) {
      return sweep_plainly(target);
    }
    residual_ = system_.residual(z_);
    if (round == 0 || residual_ <= 0.5 * before) continue;
    if (residual_ < kRoundingIsLeft) return;
    if (!(residual_ < 1e3) || ++stalled > 8) return sweep_plainly(target);
  }
}

// (I - P) z = P 1_ends: elimination without exchanges adds and divides positive numbers only where
// Z exists, so that z is right in each of its digits, and positive.
bool ZSolver::solve_directly() {
  std::vector<double> right(z_.size(), 0.0);
  const bool solved = direct_solve(system_, right, z_);
  count(1);
  if (solved && all_positive(z_)) return true;
  if (solved && problem_.mu >= problem_.sufficient) {
    refuse_divergence(64);
    if (divergence_->search_below(z_, 256)) {
      throw user_error("{}", problem_.diverges("the linear equation has no positive solution"));
    }
  }
  refuse_divergence(512);
  return false;
}

// (I - P) e = P 1 - 1, z = 1 + e.
bool ZSolver::solve_by_krylov(double target) {
  std::vector<double> right(z_.size()), change(z_.size(), 0.0);
  system_.apply(z_, right);
  for (double& value : right) value = -value;
  std::fill(right.begin(), right.begin() + system_.ends(), 0.0);
  count(krylov_solve(system_, right, change, target, 400));
  for (size_t p = 0; p < z_.size(); ++p) z_[p] += change[p];
  if (all_positive(z_)) return true;
  // Either not solved yet, or the sum over paths does not exist.
  refuse_divergence(512);
  return false;
}

void ZSolver::power(double target) {
  constexpr int kMostFolds = 1000;
  std::vector<double> scratch;
  if (sweeps_ == 0 && system_.size() > kDirectLimit) refuse_divergence(32);
  if (std::isinf(residual_)) residual_ = system_.residual(z_);
  for (int folds = 0; residual_ > target;) {
    for (int k = 0; k < 8; ++k) {
      const double change = system_.power_sweep(z_, scratch);
      ++sweeps_;
      if (options_.progress) options_.progress(sweeps_, change);
    }
    const double before = residual_;
    residual_ = system_.residual(z_);
    if (residual_ < kRoundingIsLeft && residual_ >= before) return;
    if (sweeps_ > options_.max_sweeps) give_up();
    if (!all_positive(z_)) {
      refuse_divergence(512);
      throw SweepsFailed{};
    }
    const auto [least, most] = std::minmax_element(z_.begin(), z_.end());
    if (*most < 1e100 && *least > 1e-100) continue;
    const bool grows = *most >= 1e100;
    system_.fold(z_);
    if (grows) refuse_divergence(64);
    if (++folds > kMostFolds) {
      throw user_error("{}", problem_.not_found("sums over paths went on growing"));
    }
  }
}

}  // namespace agora::planning

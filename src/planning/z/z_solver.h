#pragma once
#include <agora/planning/solve.h>

#include <optional>
#include <vector>

#include "planning/z/divergence.h"
#include "planning/z/partition.h"
#include "planning/z/partition_problem.h"
#include "planning/z/path_system.h"

namespace agora::planning {

// The sweeps left the range of doubles; plain ones may still do.
struct SweepsFailed {};

// Solves a system for z.
class ZSolver {
 public:
  ZSolver(PathSystem& system, const PartitionProblem& problem, PartitionMethod method,
          const SolveOptions& options);

  // Until the relative residual is at most `target`, or rounding is all that is left.
  void reach(double target);
  const std::vector<double>& z() const { return z_; }
  void fold();  // into phi
  int64_t sweeps() const { return sweeps_; }
  double residual() const { return residual_; }

 private:
  void run(double target);
  void count(int64_t sweeps);
  [[noreturn]] void give_up() const;
  void sweep(double target, bool may_take_over);
  void sweep_plainly(double target);
  void refuse_divergence(int iterations);
  void linear(double target);
  bool solve_directly();
  bool solve_by_krylov(double target);
  void power(double target);

  PathSystem& system_;
  const PartitionProblem& problem_;
  PartitionMethod method_;
  const SolveOptions& options_;
  std::vector<double> z_;
  int64_t sweeps_ = 0;
  double residual_ = INFINITY;
  std::optional<DivergenceProof> divergence_;
};

}  // namespace agora::planning

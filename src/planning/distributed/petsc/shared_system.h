#pragma once
#include <petscksp.h>

#include <functional>
#include <vector>

#include "planning/distributed/model_share.h"
#include "planning/distributed/petsc/ranks.h"
#include "planning/z/path_system.h"
#include "planning/z/reach.h"

namespace agora::planning {

// The equation of `PathSystem` with its rows spread over ranks: z = Z exp(-phi) as a PETSc matrix
// I - P, whose rows are numbered along each rank's own path order so that an incomplete
// factorisation of a rank's block nearly solves it.
class SharedSystem {
 public:
  SharedSystem(const Ranks& ranks, const ModelShare& share, double beta, double mu);
  ~SharedSystem();
  SharedSystem(const SharedSystem&) = delete;

  bool live(State local) const { return phi_[static_cast<size_t>(local)] != -INFINITY; }
  const std::vector<double>& phi() const { return phi_; }  // (own + ghosts); log Z in the end
  std::vector<double> policy(State own) const;             // (actions); -1: no such action

  // Cycles of PathSystem's sweeps over each rank's own states, with the others' latest values at
  // the seams, for as long as they help: phi comes so near to log Z that the matrix is of order
  // one. Returns the sweeps done.
  int64_t sweep();
  // Recomputes the matrix from phi; returns the largest relative residual of Z = exp(phi), or
  // infinity if staying in a state has weight one or more.
  double assemble();
  // (I - P) x = right over the own states, ends keep right. Returns the iterations done.
  int solve(const std::vector<double>& right, std::vector<double>& x, double relative,
            double absolute);
  // right - (I - P) x.
  void residual(const std::vector<double>& right, const std::vector<double>& x,
                std::vector<double>& out);

  // Of the last assemble(), by own state: P 1 - 1, and what a step earns if it earns
  // reward(transition's); zero in ends and states without one in reach.
  const std::vector<double>& excess() const { return excess_; }
  std::vector<double> step_rewards(const std::function<double(double)>& reward) const;

  // phi += log z over the own states, then their copies elsewhere.
  void fold(const std::vector<double>& z);
  std::string solver_words() const;
  int rounds() const { return rounds_; }  // of the first estimate

 private:
  double log_weight(State s, Action a) const;
  void first_estimate();
  void number_rows();
  void choose_preconditioner(const std::vector<PetscInt>& inside,
                             const std::vector<PetscInt>& outside);
  double run_cycles(PathSystem& rows, std::vector<double>& z);
  void exchange(std::vector<double>& values) const;  // copies of other ranks' states
  void put(const std::vector<double>& values, Vec to) const;

  const Ranks& ranks_;
  const ModelShare& share_;
  double beta_, mu_;
  std::vector<double> phi_, excess_, leave_;
  std::vector<char> fixed_;       // (own): an end, or none in reach
  std::vector<State> order_;      // own states in the order of their rows
  PathOrder path_order_;          // the last one of first_estimate, until sweep() has used it
  std::vector<PetscInt> column_;  // (own + ghosts)
  int rounds_ = 0;
  Vec halo_ = nullptr, right_ = nullptr, x_ = nullptr;
  Mat matrix_ = nullptr;
  KSP ksp_ = nullptr;
};

}  // namespace agora::planning

#pragma once
#include <agora/planning/model.h>

#include <cstdint>
#include <vector>

#include "planning/z/path_rows.h"
#include "planning/z/reach.h"

namespace agora::planning {

// The linear equation of a partition function, Z(s) = sum_t w(s,t) Z(t) with Z fixed in terminal
// states, over the states that can reach an end and in the order of `PathOrder`. It is kept for
// z = Z exp(-phi), where phi is the best estimate of log Z so far: its weights are of order one
// whatever the size of Z, and once phi is right they are the transition matrix of the policy.
class PathSystem {
 public:
  PathSystem(const Model& model, PathOrder order, const LogWeights& weights);

  int32_t size() const { return static_cast<int32_t>(phi_.size()); }
  int32_t ends() const { return ends_; }
  State state(int32_t p) const { return state_[static_cast<size_t>(p)]; }
  const std::vector<int32_t>& positions() const { return position_; }
  int32_t position(State s) const { return position_[static_cast<size_t>(s)]; }
  // By position: log Z, once the iterations are over and z was folded into it.
  const std::vector<double>& phi() const { return phi_; }
  bool loops_diverge() const { return loops_diverge_; }  // staying has weight one or more somewhere

  // A row is divided by one minus the weight of staying in the state.
  const PathRows& rows() const { return rows_; }
  // (positions) One over that: the steps a path spends in the state before it moves on. 0 at ends.
  const std::vector<double>& visits() const { return visits_; }

  // One cycle of Gauss-Seidel sweeps on z, `kCycle` along the order and as many against it. Along
  // the order, later states keep their ratio to the present one instead of their value,
  //   z(s) = E z(s) / (z(s) - L),  E, L: sums over earlier (new) and later (old) states,
  // so that errors which vary slowly leave at once and not after as many sweeps as a path has
  // steps away from the end. L moves along only as far as it can in the solution, where later
  // states have the smaller Z. Against the order the sweeps are plain and repair states that come
  // too early. Folds z when it drifts.
  static constexpr int kCycle = 4;
  // Plain sweeps along the order too: slow, but they cannot fail if Z exists.
  void be_cautious();
  // Returns the largest relative change of the last sweep: no residual is larger, since only what
  // came after a state in that sweep moved since.
  double z_cycle(std::vector<double>& z);
  // The same for the values of the folded system, v = r + P v: differences take the place of
  // ratios; `plain`: values do.
  double value_cycle(const std::vector<double>& r, std::vector<double>& v, bool plain) const;
  // z = W z from the values before, as the thesis's power iteration does; returns the largest
  // change of Z relative to the largest Z.
  double power_sweep(std::vector<double>& z, std::vector<double>& scratch) const;

  double residual(const std::vector<double>& z) const;  // largest |z(s) - sum_t w z(t)| / z(s)
  double value_residual(const std::vector<double>& r, const std::vector<double>& v) const;
  // out = v - P v on the unknowns, zero on the ends.
  void apply(const std::vector<double>& v, std::vector<double>& out) const;

  // phi += log z, weights follow, z = 1.
  void fold(std::vector<double>& z);
  // Whether some weight was too small for a double since the rows were made: if it was small only
  // because phi was wrong, it is missing.
  bool has_lost_weights() const { return lost_weights_; }
  // Makes the rows anew at phi + log z, rounded; what rounding took from phi is left in z.
  void rebuild(const Model& model, const LogWeights& weights, std::vector<double>& z);

 private:
  void make_rows(const Model& model, const LogWeights& weights);
  void pad_rows(const Model& model, const LogWeights& weights);
  void pack_rows(const Model& model, const LogWeights& weights);
  bool ratio_sweeps(std::vector<double>& z) const;
  void log_sweep();
  template <typename Body>
  double most(Body&& body) const;
  template <typename Body>
  void run_sweeps(bool forward, Body&& body) const;

  int32_t ends_ = 0;
  int32_t bandwidth_ = 0;  // the largest distance in positions between the ends of an entry
  bool loops_diverge_ = false;
  bool lost_weights_ = false;
  bool cautious_ = false;
  std::vector<State> state_;
  std::vector<int32_t> position_;
  std::vector<double> phi_;
  std::vector<double> rest_;  // what rounding took from phi, once weights were lost; may be empty
  std::vector<float> cap_;    // bound on L / z(s) in the solution
  PathRows rows_;
  std::vector<double> visits_;
};

}  // namespace agora::planning

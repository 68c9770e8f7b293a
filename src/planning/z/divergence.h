#pragma once
#include <agora/planning/model.h>

#include <vector>

#include "planning/z/path_system.h"

namespace agora::planning {

// Looks for a proof that a sum over paths diverges: x >= 0, not zero, with W x >= x wherever x > 0,
// W being the weights between states that are not ends. Then the spectral radius of W is at least
// one; a symmetric W needs x'Wx >= x'x only. Every state of the system can reach an end, so its Z
// holds the diverging part. W is taken as it is where all steps weigh the same, and as the system
// has it, folded by phi, where weights may leave the range of doubles: neither changes its
// spectrum.
class DivergenceProof {
 public:
  using Vector = std::vector<double>;  // (positions), zero at the ends

  // `uniform`: the logarithm of every step's weight, or NaN if they differ.
  DivergenceProof(const Model& model, double uniform, const PathSystem& system);

  // Goes on with the power iterations that find x; true if there is a proof now.
  bool search(int iterations);
  // Starts from the part of z, a solution of the folded equation, that is negative: where Z
  // diverges, the equation lifts it.
  bool search_below(const Vector& z, int iterations) const;

 private:
  double through(size_t p, const Vector& x) const;
  bool is_symmetric() const;
  bool iterate(Vector& x, int iterations) const;
  bool proves(const Vector& x) const;
  bool holds_on_average(const Vector& x) const;
  bool holds_somewhere(const Vector& x) const;

  const Model& model_;
  const PathSystem& system_;
  bool same_weights_;
  double weight_;  // of a step, if all are the same
  std::vector<Vector> starts_;
  bool symmetric_;
};

}  // namespace agora::planning

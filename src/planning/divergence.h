#pragma once
#include <agora/planning/model.h>

#include <vector>

#include "planning/reach.h"

namespace agora::planning {

// Looks for a proof that a sum over paths diverges: x >= 0, not zero, with W x >= x wherever x > 0,
// W being the weights between states that are not ends. Then the spectral radius of W is at least
// one; a symmetric W needs x'Wx >= x'x only. Every state of `position` >= 0 can reach an end, so
// its Z holds the diverging part.
class DivergenceProof {
 public:
  DivergenceProof(const Model& model, const LogWeights& weights,
                  const std::vector<int32_t>& position, int32_t ends);

  // Goes on with the power iterations that find x; true if there is a proof now.
  bool search(int iterations);

 private:
  using Vector = std::vector<double>;  // (states)
  double through(State s, const Vector& x) const;
  bool is_symmetric() const;
  bool iterate(Vector& x, int iterations) const;
  bool proves(const Vector& x) const;
  bool holds_on_average(const Vector& x) const;
  bool holds_somewhere(const Vector& x) const;

  const Model& model_;
  const LogWeights& weights_;
  Vector from_all_;   // from one everywhere: finds loops wherever they are
  Vector from_ends_;  // from the states before an end: paths by their length
  bool symmetric_;
};

}  // namespace agora::planning

#pragma once
#include <vector>

#include "auctions/exact/type_space.h"

namespace agora::auctions {

struct OptimalMechanism {
  double revenue = 0;               // expected, on the type space
  std::vector<double> allocation;   // (profiles, bidders, items)
  std::vector<double> payments;     // (profiles, bidders)
  int rounds = 0, constraints = 0;  // how often and how many constraints were generated
};

// The revenue-optimal mechanism on finitely many types by linear programming. `dominant`: truth
// is best whatever the others' types are, otherwise in expectation over them (Bayesian; payments
// are then spread so that nobody pays more than what it gets is worth). Constraints of truth are
// generated as they are violated. Limits hold in every profile; the Bayesian
// program keeps to budgets on average over the others only.
OptimalMechanism solve_optimal(const TypeSpace& space, bool dominant, const Limits& limits = {});

}  // namespace agora::auctions

#include "planning/optimum/optimum.h"
#include "planning/solver.h"

namespace agora::planning::kind_vi_gauss_seidel {

Solver entry_vi_gauss_seidel() {
  return {.name = "vi-gauss-seidel",
          .summary = "value iteration in place, from the ends outwards",
          .answer = Solver::Answer::kOptimum,
          .run = optimal_values};
}

}  // namespace agora::planning::kind_vi_gauss_seidel

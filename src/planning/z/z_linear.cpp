#include "planning/solver.h"
#include "planning/z/partition.h"

namespace agora::planning::kind_z_linear {

Solver entry_z_linear() {
  return {.name = "z-linear",
          .summary = "partition function by sparse linear solve",
          .answer = Solver::Answer::kPartitionFunction,
          .stochastic = false,
          .discounted = false,
          .parameters = both(thermal_parameters(), {sweeps_parameter()}),
          .run = [](const Model& model, const SolveOptions& options) {
            return solve_partition(model, options, PartitionMethod::kLinear);
          }};
}

}  // namespace agora::planning::kind_z_linear

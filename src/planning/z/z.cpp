#include "planning/solver.h"
#include "planning/z/partition.h"

namespace agora::planning::kind_z {

Solver entry_z() {
  return {.name = "z",
          .summary = "partition function: sweeps, and a Krylov method where they are slow",
          .answer = Solver::Answer::kPartitionFunction,
          .stochastic = false,
          .discounted = false,
          .parameters = both(thermal_parameters(), {sweeps_parameter()}),
          .run = [](const Model& model, const SolveOptions& options) {
            return solve_partition(model, options, PartitionMethod::kAutomatic);
          }};
}

}  // namespace agora::planning::kind_z

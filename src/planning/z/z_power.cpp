#include "planning/solver.h"
#include "planning/z/partition.h"

namespace agora::planning::kind_z_power {

Solver entry_z_power() {
  return {.name = "z-power",
          .summary = "partition function by power iteration",
          .answer = Solver::Answer::kPartitionFunction,
          .stochastic = false,
          .discounted = false,
          .parameters = both(thermal_parameters(), {sweeps_parameter()}),
          .run = [](const Model& model, const SolveOptions& options) {
            return solve_partition(model, options, PartitionMethod::kPower);
          }};
}

}  // namespace agora::planning::kind_z_power

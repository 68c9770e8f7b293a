#include "planning/solver.h"
#include "planning/z/partition.h"

namespace agora::planning::kind_z_gauss_seidel {

Solver entry_z_gauss_seidel() {
  return {.name = "z-gauss-seidel",
          .summary = "partition function by Gauss-Seidel sweeps in path order",
          .answer = Solver::Answer::kPartitionFunction,
          .stochastic = false,
          .discounted = false,
          .parameters = both(thermal_parameters(), {sweeps_parameter()}),
          .run = [](const Model& model, const SolveOptions& options) {
            return solve_partition(model, options, PartitionMethod::kSweeps);
          }};
}

}  // namespace agora::planning::kind_z_gauss_seidel

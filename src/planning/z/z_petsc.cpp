#include "planning/distributed/distributed.h"
#include "planning/solver.h"

namespace agora::planning::kind_z_petsc {

Solver entry_z_petsc() {
  return {.name = "z-petsc",
          .summary = "partition function by PETSc; under mpirun shared by its processes",
          .answer = Solver::Answer::kPartitionFunction,
          .stochastic = false,
          .discounted = false,
          .parameters = thermal_parameters(),
          .run = solve_with_petsc};
}

}  // namespace agora::planning::kind_z_petsc

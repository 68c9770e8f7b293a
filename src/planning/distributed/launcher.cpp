#include <algorithm>
#include <cstdlib>

#include "planning/distributed/distributed.h"

namespace agora::planning {

int launched_processes() {
  // Open MPI; MPICH and Intel; Slurm's srun.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"}) {
    if (const char* count = std::getenv(name)) return std::max(1, std::atoi(count));
  }
  return 1;
}

}  // namespace agora::planning

#include "planning/distributed/distributed.h"

#include "base/error.h"

namespace agora::planning {
namespace {

constexpr const char* kMissing =
    "method 'z-petsc' needs PETSc and MPI, which this build does not have: install "
    "libpetsc-real-dev and openmpi-bin and build again";

}  // namespace

std::string petsc_description() { return "no (plan solve on several machines needs it)"; }

void join_processes() { throw user_error("{}", kMissing); }

DistributedSolution solve_distributed(const std::string&, const LoadOptions&, const SolveOptions&) {
  throw user_error("{}", kMissing);
}

void write_together(const std::filesystem::path&, std::string_view,
                    const std::function<void(std::string&)>&) {
  throw user_error("{}", kMissing);
}

Solution solve_with_petsc(const Model&, const SolveOptions&) { throw user_error("{}", kMissing); }

}  // namespace agora::planning

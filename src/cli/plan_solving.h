#pragma once
#include <agora/planning/solve.h>

#include <memory>
#include <string>

#include "cli/kind_options.h"
#include "planning/distributed/distributed.h"

namespace agora::cli {

// The method of a `plan` verb and its options.
struct SolveChoice {
  std::string method;  // empty: planning::default_method()
  std::shared_ptr<KindOptions> told;

  planning::Solution run(const planning::Model& model) const;
  // Whether the processes of an mpirun, or PETSc in one, solve it together.
  bool is_shared() const;
  // After join_processes().
  planning::DistributedSolution run_shared(const std::string& source,
                                           const planning::LoadOptions& load) const;

 private:
  planning::SolveOptions options() const;
};

std::shared_ptr<SolveChoice> declare_solving(OptionList& app);

}  // namespace agora::cli

#pragma once
#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "planning/distributed/model_share.h"

// Partition functions of models that several processes share, through MPI and PETSc. petsc/ and
// no_petsc/ implement this; exactly one is built.
namespace agora::planning {

std::string petsc_description();  // its version, or that this build has none

// How many processes the launcher (mpirun) started, before MPI itself is asked; 1 without one.
int launched_processes();

struct DistributedSolution {
  ModelShare share;         // this process's states
  Solution solution = {};   // value, log Z and policy of these
  std::string solver = {};  // in words
  int ranks = 1;
  std::string start = {};  // its name
  double value = 0.0, log_z = 0.0;
  std::vector<std::string> actions = {};  // names
  std::vector<double> policy = {};        // (actions) at the start; -1: no such action
};

// Starts MPI; processes other than the first print nothing from here on.
void join_processes();

// Every process calls this, once they have joined; each reads or makes its own states only. An
// error in one of them is thrown in all.
DistributedSolution solve_distributed(const std::string& source, const LoadOptions& load,
                                      const SolveOptions& options);

// Every process calls this; the first writes `head`, then what each of them gives, in their order,
// whole or not at all. next() fills a piece of text with what follows, nothing at the end.
void write_together(const std::filesystem::path& file, std::string_view head,
                    const std::function<void(std::string& piece)>& next);

// Z of a model that is here in whole; one process only.
Solution solve_with_petsc(const Model& model, const SolveOptions& options);

}  // namespace agora::planning

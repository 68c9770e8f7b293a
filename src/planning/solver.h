#pragma once
#include <agora/planning/solve.h>

#include <functional>
#include <string>
#include <vector>

#include "base/parameter.h"

namespace agora::planning {

using SolveParameter = OptionParameter<SolveOptions>;
std::vector<SolveParameter> thermal_parameters();    // beta, mu, tolerance
std::vector<SolveParameter> iteration_parameters();  // tolerance, max-sweeps
SolveParameter tolerance_parameter();
SolveParameter sweeps_parameter();

// One solver is one file of z/ or optimum/, whose `Solver entry_STEM()` fills this.
struct Solver {
  std::string name;     // for --method
  std::string summary;  // one line, for listings
  enum class Answer { kOptimum, kPartitionFunction, kSoftValue, kPolicyValue } answer;
  bool stochastic = true;  // takes stochastic models; deterministic ones are taken by all
  bool discounted = true;  // uses a discount below one; partition functions use mu instead
  std::vector<SolveParameter> parameters = iteration_parameters();
  // Checks that depend on the model and take no solver to find are done by solve(), before.
  std::function<Solution(const Model&, const SolveOptions&)> run;
};

// Every solver, in the order of their file names (generated).
const std::vector<Solver>& solvers();
void check_options(const SolveOptions& options);
// Where answers leave a solver: values and log Z are numbers, -infinity only where nothing ends and
// never at the start; the residual is known, the bound a number or infinity for unknown.
void check_answer(const Model& model, const Solver& solver, const Solution& solution);
const Solver& find_solver(const std::string& name);  // a user error names the nearest

}  // namespace agora::planning

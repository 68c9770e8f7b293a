#pragma once
#include <agora/planning/solve.h>

#include <functional>

#include "planning/z/reach.h"

namespace agora::planning {

// How the linear equation of a partition function is solved.
enum class PartitionMethod {
  kAutomatic,  // sweeps; a preconditioned Krylov method takes over where they are slow
  kSweeps,     // Gauss-Seidel only
  kPower,      // the thesis's power iteration
  kLinear,     // sparse LU, Krylov for large models
};

// eq. z-bellman for deterministic models, eq. avgBellman (joint_policy filled) for the others.
Solution solve_partition(const Model& model, const SolveOptions& options, PartitionMethod method);

inline constexpr double kRoundOff = 4e-15;                    // no residual falls below this
inline constexpr double kRoundingIsLeft = 100.0 * kRoundOff;  // and one that stays below this may
inline constexpr double kFirstTarget = 1e-9;  // good enough to see how long paths are
inline constexpr const char* kNoEnd =
    "the model has no terminal state, so no path ends: give it an absorbing goal, or use a "
    "discount below 1 with a method such as vi";
// Messages. `sufficient`: -log d - beta max(0, R_max).
std::string partition_diverges(double beta, double mu, double sufficient, const std::string& why);
std::string partition_not_found(double beta, double mu, double sufficient, const std::string& why);
std::string insufficient_mu(double mu, double sufficient);

double default_mu(const Model& model);    // -log d - .1
Action most_actions(const Model& model);  // d
// Errors for models in which no path from the start ends.
void require_an_end(const Model& model);
void require_live_start(const Model& model, const std::function<bool(State)>& is_live);

}  // namespace agora::planning

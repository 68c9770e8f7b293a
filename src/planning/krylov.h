#pragma once
#include <vector>

#include "planning/path_system.h"

namespace agora::planning {

// v = r + P v on a folded system by BiCGSTAB, preconditioned by an incomplete factorisation whose
// dropped entries are moved to the diagonal (row sums are kept, so slow errors are not slow).
// Starts from v and takes at most `iterations`; stops at the absolute residual `target`. Returns
// the iterations done; v is the best seen.
int krylov_solve(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v,
                 double target, int iterations);

inline constexpr int32_t kDirectLimit = 20'000;  // states that sparse LU is used for

// The same by sparse LU factorisation; for small systems.
void direct_solve(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v);

// The same by cycles of sweeps, by krylov_solve where these are slow, or by LU if `direct`.
// Returns the sweeps and iterations done.
int64_t solve_values(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v,
                     double target, bool direct);

}  // namespace agora::planning

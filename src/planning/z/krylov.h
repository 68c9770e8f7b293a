#pragma once
#include <vector>

#include "planning/z/path_system.h"

namespace agora::planning {

// v = r + P v on a folded system by BiCGSTAB, preconditioned by an incomplete factorisation whose
// dropped entries are moved to the diagonal (row sums are kept, so slow errors are not slow).
// Starts from v and takes at most `iterations`; stops at the absolute residual `target`. Returns
// the iterations done; v is the best seen.
int krylov_solve(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v,
                 double target, int iterations);

inline constexpr int32_t kDirectLimit = 20'000;  // states that sparse LU is used for

// The same by sparse LU factorisation; for small systems. Eliminates without exchanging rows, which
// keeps the signs of a matrix I - P: where Z exists and r >= 0, v has no rounding error beyond its
// last digits. False, and v as it was, if a pivot is zero or a number leaves the range of doubles.
bool direct_solve(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v);

// The same by cycles of sweeps, by krylov_solve and then LU or plain sweeps where these are slow,
// or by LU at once if `direct`. Returns the sweeps and iterations done; what was reached is for the
// caller to look at.
int64_t solve_values(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v,
                     double target, bool direct);

}  // namespace agora::planning

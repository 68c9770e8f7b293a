#pragma once
#include <agora/planning/model.h>

#include "planning/distributed/model_share.h"

namespace agora::planning {

// The grid that planners are timed on: n x n cells, a fifth of them walls by a hash of the seed,
// goal in the middle, four moves (up, right, down, left), a blocked one stays put, -1 a step,
// discount .99. Walls are not states. Starts in the free cell of least number from which the
// goal can be reached.
Model benchmark_grid(int32_t n, uint64_t seed = 1);

// Some rows of it. The start is left open: the least state that can reach the goal.
ModelShare benchmark_grid_share(int32_t n, uint64_t seed, int share, int shares);

}  // namespace agora::planning

#pragma once
#include <cstdint>

#include "planning/distributed/grid_share.h"

namespace agora::planning {

// A random maze: rooms on even cells, S and G in the upper left and the lower right one. Every wall
// between two rooms has a weight of its own; it falls unless lighter ones lead around it (Kruskal),
// and otherwise with probability `loops`. `rooms`: the rows of rooms that are wanted. The others
// are looked at row by row and not kept.
GridStrip maze_strip(int32_t rows, int32_t cols, uint64_t seed, double loops, Range rooms);

}  // namespace agora::planning

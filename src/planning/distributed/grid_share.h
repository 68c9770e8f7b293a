#pragma once
#include <agora/planning/load.h>

#include <string>

#include "base/thread_pool.h"
#include "planning/distributed/model_share.h"

namespace agora::planning {

// Some rows of a map, for a process that has only these and the ones that border on them.
struct GridStrip {
  int32_t rows = 0, cols = 0;     // of the whole map
  Range own = {0, 0};             // rows
  int32_t first_row = 0;          // of `cells`: that above the own ones, if there is one
  std::string cells = {};         // row by row, with that below the own ones if there is one
  int64_t before = 0, total = 0;  // states: in the rows above the own ones, in all
};

// The states of these rows, as grid_model numbers and calls them. The start is left open.
ModelShare grid_share(const GridStrip& strip, const GridRules& rules);

}  // namespace agora::planning

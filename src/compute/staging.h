#pragma once
#include <vector>

#include "compute/graph.h"

namespace agora::compute {

// When each node can be computed. Stage 0 needs no sum over rows; a sum over rows of stage s is
// known in stage s + 1. `loop` is the loop whose body a node belongs to, or -1.
struct Staging {
  std::vector<int32_t> stage;
  std::vector<int32_t> loop;
  int32_t stages = 1;
};

Staging staging(const Graph& graph);

bool sums_over_rows(Op op);
bool is_view(Op op);  // the same values under another shape

}  // namespace agora::compute

#pragma once
#include <memory>
#include <vector>

#include "compute/graph.h"

namespace agora::compute {

// A graph that computes the same `roots` with less work, and where the roots are in it.
struct Simplified {
  std::unique_ptr<Graph> graph;
  std::vector<int32_t> roots;
};

// Leaves out what the roots do not need. With `rewrite`, also folds constants, shares common
// subexpressions, drops operations that change nothing (x*1, x+0, softmax or sum over an axis of
// size one, a broadcast that the operation does anyway) and merges products with one input:
// x A + x B = x (A + B).
Simplified simplify(const Graph& graph, const std::vector<int32_t>& roots, bool rewrite = true);

}  // namespace agora::compute

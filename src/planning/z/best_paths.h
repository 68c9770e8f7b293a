#pragma once
#include <agora/planning/model.h>

#include <vector>

namespace agora::planning {

// Best total rewards to an end of a deterministic model in which no step gains.
struct BestPaths {
  std::vector<double> value;  // (states), -infinity if no end is in reach
  std::vector<Action>
      action;  // (states) the first that begins a best path and comes nearer, else kNone
  std::vector<State>
      order;  // those with an end in reach, the best first; a best path goes back in it
};
bool has_best_paths(const Model& model);  // deterministic, and no reward of a step is above zero

// Dijkstra's algorithm from the ends: every value is final when it is found, and satisfies
// Bellman's equation to the last bit.
BestPaths best_paths(const Model& model);

}  // namespace agora::planning

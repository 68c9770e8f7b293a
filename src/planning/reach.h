#pragma once
#include <agora/planning/model.h>

#include <functional>
#include <vector>

namespace agora::planning {

// States that can reach a terminal one, in an order in which a partition function is built up.
struct PathOrder {
  std::vector<State> state;       // (live) position -> state; terminal states first
  std::vector<int32_t> position;  // (states) state -> position, -1 if no end is in reach
  std::vector<double> log_sum;    // (live) by position: log of the sum over paths along the order
  int32_t ends = 0;               // the first positions are terminal states
};

// The factors of the transitions of a sum over paths, in logarithms.
struct LogWeights {
  double uniform = 0.0;                                      // if `transition` is empty
  std::function<double(State, Action, int64_t)> transition;  // -infinity: no such path
  std::vector<double> end;                                   // (terminal states)
  double operator()(State s, Action a, int64_t i) const {
    return transition ? transition(s, a, i) : uniform;
  }
};

// Terminal states, then always the state with the largest sum over paths through the states
// before it: Dijkstra's algorithm with a sum in place of the best path. With sums in this order
// a state gets most of its own from earlier ones, which the length of the best path alone does
// not give: a state with one short way may border on one with many longer ways.
PathOrder path_order(const Model& model, const LogWeights& weights);

// Breadth-first from the terminal states; log_sum is empty.
PathOrder hop_order(const Model& model);

// For every state from which some policy ends with probability one, an action of such a policy;
// kNone for the others and for terminal states.
std::vector<Action> surely_ending(const Model& model);

}  // namespace agora::planning

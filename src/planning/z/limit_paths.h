#pragma once
#include <agora/planning/model.h>

#include <vector>

namespace agora::planning {

// All paths of largest total reward from every state of a deterministic model to an end: what is
// left of Z as beta goes to infinity.
struct LimitPaths {
  std::vector<double> value;     // (states) -infinity: no end in reach
  std::vector<double> rounding;  // (states) what rounding may have done to `value`
  std::vector<int32_t> rank;     // (states) in which values were found, if every step costs
  std::vector<State> order;      // a best step leads to an earlier state; empty if they form loops

  // Whether action a of s lies on a best path, as far as rounding lets one tell.
  bool is_best(const Model& model, State s, Action a) const;
};

// A user error if a loop gains.
LimitPaths limit_paths(const Model& model);

}  // namespace agora::planning

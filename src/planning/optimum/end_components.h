#pragma once
#include <agora/planning/builder.h>

#include <functional>
#include <vector>

#include "planning/optimum/optimum.h"

namespace agora::planning {

// Maximal end components of the actions that `keep` admits: sets of states in which some of these
// actions can move for ever between all of them. (states) The number of a state's component; states
// in none have one of their own, and those outside of problem.order have -1. `inside`: whether the
// action never leaves the component of its state.
struct EndComponents {
  std::vector<int32_t> component;  // (states)
  int32_t count = 0;
  std::vector<char> inside;  // (states * actions)
};
EndComponents end_components(const ValueProblem& problem,
                             const std::function<bool(State, Action)>& keep);

// How far the total reward may be above `value`, what a policy earns that no action improves by
// more than `margin`; loops that gain no more than that are taken to be free. States that such
// loops join are one, and then every way of going on ends: with N the longest on average and no
// action gaining more than eps, the optimum is within eps N. Infinity if losses are too small to
// tell.
double distance_above_classes(const ValueProblem& problem, const std::vector<double>& value,
                              double margin);

}  // namespace agora::planning

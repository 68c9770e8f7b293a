#pragma once
#include <agora/planning/model.h>
#include <agora/planning/solve.h>

#include <array>
#include <string>

namespace agora::planning {

// The actions of a grid by direction: up, right, down, left; kNone where one has no such name.
std::array<Action, 4> moves_of(const Model& model);

// One line of text per row: # wall, G goal, ! pit, ^ > v < the most probable move, ? none.
std::string draw_policy(const Model& model, const Policy& policy);
// The map itself.
std::string draw_map(const Model& model);

}  // namespace agora::planning

#pragma once
#include <agora/planning/load.h>

#include <string>
#include <vector>

namespace agora::planning {

inline constexpr const char* kGridCells = "#.SG!123456789";

// The model of a map whose cells are given row by row. Walls are not states; the others are
// numbered row by row. Starts uniformly in the cells S, in the first state if there is none.
Model grid_model(int32_t rows, int32_t cols, std::string cells, const GridRules& rules = {});
Model grid_model(const std::vector<std::string>& lines, const GridRules& rules = {});

// Up, right, down, left.
struct Move {
  int32_t down, right;
};
inline constexpr Move kMoves[4] = {{-1, 0}, {0, 1}, {1, 0}, {0, -1}};
inline constexpr const char* kMoveNames[4] = {"up", "right", "down", "left"};

void check_slip(double slip);
void check_rules(const GridRules& rules);
double step_reward(char cell, const GridRules& rules);

}  // namespace agora::planning

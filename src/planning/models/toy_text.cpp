#include "planning/models/toy_text.h"

#include <agora/planning/builder.h>

#include <algorithm>

namespace agora::planning {

Parameter frozen_lake_slip() {
  return {"slip", 2.0 / 3.0, 0, 1, false, "probability of a perpendicular move; 0: not slippery"};
}

Model frozen_lake(const std::vector<std::string>& lines, double slip) {
  const int32_t rows = static_cast<int32_t>(lines.size());
  const int32_t cols = static_cast<int32_t>(lines[0].size());
  const int32_t down[4] = {0, 1, 0, -1}, right[4] = {-1, 0, 1, 0};
  const auto mark = [&](State s) {
    return lines[static_cast<size_t>(s / cols)][static_cast<size_t>(s % cols)];
  };
  const auto after = [&](State s, int a) {
    const int32_t row = std::clamp(s / cols + down[a], 0, rows - 1);
    const int32_t col = std::clamp(s % cols + right[a], 0, cols - 1);
    return row * cols + col;
  };
  ModelBuilder builder;
  builder.reserve(rows * cols, 4);
  Grid grid{rows, cols, "", {}};
  for (State s = 0; s < rows * cols; ++s) {
    grid.cells += mark(s) == 'F' ? '.' : mark(s) == 'H' ? '!' : mark(s);
    if (mark(s) == 'S') builder.start(s);
    if (mark(s) == 'G' || mark(s) == 'H') continue;
    for (int a = 0; a < 4; ++a) {
      for (const auto& [direction, probability] :
           {std::pair{a, 1 - slip}, {(a + 3) % 4, slip / 2}, {(a + 1) % 4, slip / 2}}) {
        const State next = after(s, direction);
        builder.add(s, a, next, probability, mark(next) == 'G' ? 1.0 : 0.0);
      }
    }
  }
  Model model = builder.build();
  model.set_action_names({"left", "down", "right", "up"});
  model.set_grid(std::move(grid));
  return model;
}

}  // namespace agora::planning

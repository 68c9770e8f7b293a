#include "planning/model/drawing.h"

#include "base/error.h"
#include "planning/model/grid_model.h"

namespace agora::planning {
namespace {

std::string in_lines(const Grid& grid, const std::string& marks) {
  std::string text;
  for (int32_t row = 0; row < grid.rows; ++row) {
    text += marks.substr(static_cast<size_t>(row) * static_cast<size_t>(grid.cols),
                         static_cast<size_t>(grid.cols));
    text += '\n';
  }
  return text;
}

}  // namespace

std::array<Action, 4> moves_of(const Model& model) {
  std::array<Action, 4> moves;
  for (size_t i = 0; i < 4; ++i) moves[i] = model.find_action(kMoveNames[i]);
  return moves;
}

std::string draw_policy(const Model& model, const Policy& policy) {
  const Grid& grid = model.grid();
  CHECK(!grid.empty(), "only maps are drawn");
  const std::array<Action, 4> moves = moves_of(model);
  std::string marks = grid.cells;
  for (State s = 0; s < model.states(); ++s) {
    if (model.terminal(s)) continue;
    const Action best = policy.best(s);
    char mark = '?';
    for (size_t i = 0; i < 4; ++i) {
      if (best != kNone && moves[i] == best) mark = "^>v<"[i];
    }
    marks[static_cast<size_t>(grid.cell(s))] = mark;
  }
  return in_lines(grid, marks);
}

std::string draw_map(const Model& model) { return in_lines(model.grid(), model.grid().cells); }

}  // namespace agora::planning

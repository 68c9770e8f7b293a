#include "report/grid_policy.h"

#include <limits>

#include "base/error.h"
#include "planning/model/drawing.h"

namespace agora::report {
namespace {

Cell cell_of(char mark) {
  switch (mark) {
    case '#':
      return Cell::kWall;
    case 'S':
      return Cell::kStart;
    case 'G':
      return Cell::kGoal;
    case '!':
      return Cell::kPit;
    default:
      return Cell::kFree;
  }
}

}  // namespace

GridPicture grid_policy(const planning::Model& model, const planning::Solution& solution,
                        std::string title) {
  const planning::Grid& grid = model.grid();
  CHECK(!grid.empty(), "only maps are drawn");
  const size_t cells = grid.cells.size();
  GridPicture picture{
      .title = std::move(title),
      .rows = grid.rows,
      .columns = grid.cols,
      .values = std::vector<double>(cells, std::numeric_limits<double>::quiet_NaN()),
      .value_title = "value",
      .moves = std::vector<double>(cells * 4, 0.0)};
  for (const char mark : grid.cells) picture.cells.push_back(cell_of(mark));
  const auto moves = planning::moves_of(model);
  for (planning::State s = 0; s < model.states(); ++s) {
    const size_t cell = static_cast<size_t>(grid.cell(s));
    // A pit is far below everything else and would take the whole range of colours.
    if (!solution.value.empty() && grid.cells[cell] != '!') {
      picture.values[cell] = solution.value[static_cast<size_t>(s)];
    }
    if (model.terminal(s) || solution.policy.empty()) continue;
    for (size_t i = 0; i < 4; ++i) {
      if (moves[i] != planning::kNone) picture.moves[cell * 4 + i] = solution.policy(s, moves[i]);
    }
  }
  return picture;
}

}  // namespace agora::report

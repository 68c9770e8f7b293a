#include <algorithm>

#include "planning/models/grid_builtin.h"

namespace agora::planning::kind_slippery_cliff {
namespace {

// The rows of one of several parts; no cell is a wall.
GridStrip strip(const Told& given, int part, int parts) {
  const int32_t rows = given.whole("rows"), cols = given.whole("cols");
  GridStrip made{.rows = rows, .cols = cols, .own = part_range(rows, part, parts)};
  made.first_row = static_cast<int32_t>(std::max<int64_t>(made.own.begin - 1, 0));
  made.before = made.own.begin * cols;
  made.total = int64_t{rows} * cols;
  for (int64_t row = made.first_row; row < std::min<int64_t>(made.own.end + 1, rows); ++row) {
    const size_t width = static_cast<size_t>(cols);
    made.cells +=
        row == rows - 1 ? "S" + std::string(width - 2, '!') + "G" : std::string(width, '.');
  }
  return made;
}

GridRules rules(const Told& given) {
  return {.step_reward = given.number("step"),
          .goal_reward = 0.0,
          .pit_reward = given.number("pit"),
          .slip = given.number("slip")};
}

}  // namespace

BuiltIn entry_slippery_cliff() {
  return with_map(
      {.name = "slippery-cliff",
       .summary = "a path along a row of pits on slippery ground, with a longer way round",
       .parameters = {{"rows", 4, 2, 1000, true, "rows of the map"},
                      {"cols", 12, 3, 1000, true, "columns of the map"},
                      {"slip", 0.1, 0, 1, false, "probability of a perpendicular move"},
                      {"pit", -100, -1e6, 1e6, false, "terminal reward of a pit"},
                      {"step", -1, -1e6, 1e6, false, "reward of a step"}}},
      {.strip = strip, .rules = rules, .start = [](const Told& given) {
         return static_cast<State>((given.whole("rows") - 1) * given.whole("cols"));
       }});
}

}  // namespace agora::planning::kind_slippery_cliff

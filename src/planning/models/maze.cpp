#include "base/error.h"
#include "planning/models/grid_builtin.h"
#include "planning/models/random_maze.h"

namespace agora::planning::kind_maze {
namespace {

// The rows of rooms of one of several parts.
GridStrip strip(const Told& given, int part, int parts) {
  const int32_t rows = given.whole("rows"), cols = given.whole("cols");
  if (rows % 2 == 0 || cols % 2 == 0) {
    throw user_error("maze: rows and cols are {} and {}, expected odd numbers", rows, cols);
  }
  return maze_strip(rows, cols, static_cast<uint64_t>(given.number("seed")), given.number("loops"),
                    part_range(rows / 2 + 1, part, parts));
}

GridRules rules(const Told& given) {
  return {.step_reward = given.number("step"),
          .goal_reward = given.number("goal"),
          .slip = given.number("slip")};
}

}  // namespace

BuiltIn entry_maze() {
  return with_map(
      {.name = "maze",
       .summary = "a random maze from the upper left to the lower right corner",
       .parameters = {{"rows", 21, 3, 30001, true, "odd"},
                      {"cols", 21, 3, 30001, true, "odd"},
                      {"seed", 1, 0, 0x1p53, true, "of the walls"},
                      {"loops", 0, 0, 1, false, "share of the other walls that fall too"},
                      {"slip", 0, 0, 1, false, "probability of a perpendicular move"},
                      {"step", -1, -1e6, 1e6, false, "reward of a step"},
                      {"goal", 0, -1e6, 1e6, false, "terminal reward of the goal"}}},
      {.strip = strip, .rules = rules, .start = [](const Told&) { return State{0}; }});
}

}  // namespace agora::planning::kind_maze

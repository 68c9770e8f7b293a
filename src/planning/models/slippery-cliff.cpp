#include "planning/builtin.h"
#include "planning/grid_model.h"

namespace agora::planning {

BuiltIn entry_slippery_cliff() {
  return {.name = "slippery-cliff",
          .summary = "a path along a row of pits on slippery ground, with a longer way round",
          .parameters = {{"rows", 4, 2, 1000, true, "rows of the map"},
                         {"cols", 12, 3, 1000, true, "columns of the map"},
                         {"slip", 0.1, 0, 1, false, "probability of a perpendicular move"},
                         {"pit", -100, -1e6, 1e6, false, "terminal reward of a pit"},
                         {"step", -1, -1e6, 1e6, false, "reward of a step"}},
          .make = [](const Arguments& given) {
            const size_t cols = static_cast<size_t>(given.whole("cols"));
            std::vector<std::string> lines(static_cast<size_t>(given.whole("rows")),
                                           std::string(cols, '.'));
            lines.back() = "S" + std::string(cols - 2, '!') + "G";
            return grid_model(lines, {.step_reward = given.number("step"),
                                      .goal_reward = 0.0,
                                      .pit_reward = given.number("pit"),
                                      .slip = given.number("slip")});
          }};
}

}  // namespace agora::planning

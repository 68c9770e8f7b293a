#include <agora/planning/builder.h>

#include <array>

#include "planning/models/builtin.h"

namespace agora::planning::kind_decision_tree {

// fig. tree: leaves S4, S5, S6 are worth 1 and S7 nothing; no other rewards.
BuiltIn entry_decision_tree() {
  return {.name = "decision-tree",
          .summary = "the thesis's decision tree: three first actions with 2, 1 and 1 leaves",
          .parameters = {},
          .make = [](const Told&) {
            ModelBuilder builder;
            for (int s = 0; s < 8; ++s) builder.state("S" + std::to_string(s));
            for (const char* name : {"1", "2", "3"}) builder.action(name);
            constexpr std::array<std::array<int, 3>, 7> kEdges{
                {{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 0, 4}, {1, 1, 5}, {2, 0, 6}, {3, 0, 7}}};
            for (const auto& [s, a, next] : kEdges) builder.add(s, a, next, 1.0, 0.0);
            for (const State leaf : {4, 5, 6}) builder.terminal_reward(leaf, 1.0);
            return builder.build();
          }};
}

}  // namespace agora::planning::kind_decision_tree

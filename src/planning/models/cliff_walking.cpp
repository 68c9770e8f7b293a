#include <agora/planning/builder.h>

#include <algorithm>
#include <map>
#include <utility>

#include "planning/model/grid_model.h"
#include "planning/models/builtin.h"

namespace agora::planning::kind_cliff_walking {
namespace {

constexpr int32_t kRows = 4, kCols = 12;
constexpr State kStart = 36, kGoal = 47;

// As in Gymnasium: stepping on the cliff costs 100 and leads back to the start. The cliff's own
// cells have actions too, although nobody ever stands there. Where a slip and a fall lead to the
// start alike, the reward is their mean.
Model cliff_walking(double slip) {
  const auto is_cliff = [](State s) { return s > kStart && s < kGoal; };
  ModelBuilder builder;
  builder.reserve(kRows * kCols, 4);
  builder.start(kStart);
  for (State s = 0; s < kGoal; ++s) {
    for (int a = 0; a < 4; ++a) {
      std::map<State, std::pair<double, double>> landings;  // probability, times reward
      for (const auto& [move, probability] :
           {std::pair{a, 1 - slip}, {(a + 3) % 4, slip / 2}, {(a + 1) % 4, slip / 2}}) {
        const State next = std::clamp(s / kCols + kMoves[move].down, 0, kRows - 1) * kCols +
                           std::clamp(s % kCols + kMoves[move].right, 0, kCols - 1);
        auto& [sum, earned] = landings[is_cliff(next) ? kStart : next];
        sum += probability;
        earned += probability * (is_cliff(next) ? -100 : -1);
      }
      for (const auto& [next, landing] : landings) {
        const auto [probability, earned] = landing;
        if (probability > 0) builder.add(s, a, next, probability, earned / probability);
      }
    }
  }
  return builder.build();
}

}  // namespace

BuiltIn entry_cliff_walking() {
  return {.name = "cliffwalking",
          .summary = "Gymnasium's CliffWalking; slip=2/3 is its slippery version",
          .parameters = {{"slip", 0, 0, 1, false, "probability of a perpendicular move"}},
          .make = [](const Told& given) {
            Model model = cliff_walking(given.number("slip"));
            model.set_action_names({kMoveNames, kMoveNames + 4});
            const std::string cells = std::string(36, '.') + "S" + std::string(10, '!') + "G";
            model.set_grid({kRows, kCols, cells, {}});
            return model;
          }};
}

}  // namespace agora::planning::kind_cliff_walking

#include <agora/planning/builder.h>

#include "agents/epistemic/problem_kind.h"

namespace agora::agents::epistemic::kind_corridor {
namespace {

using planning::State;

std::vector<Parameter> parameters() {
  return {{"length", 5, 3, 99, true, "cells; the start is in the middle"},
          {"left", 0.6, 0, 1, false, "chance that the goal is the leftmost cell"},
          {"discount", 0.95, 0, kBelowOne, false, "of a step"}};
}

// At the wrong end a step outwards stays there; the right end is worth 1 as soon as it is reached.
planning::Model corridor(State length, bool left, double discount) {
  planning::ModelBuilder builder;
  for (State s = 0; s < length; ++s) builder.state("cell " + std::to_string(s));
  const State found = builder.state("found"), goal = left ? 0 : length - 1;
  builder.action("left");
  builder.action("right");
  for (State s = 0; s < length; ++s) {
    for (const int a : {0, 1}) {
      const State next = std::clamp(s + (a == 0 ? -1 : 1), 0, length - 1);
      builder.add(s, a, next == goal ? found : next, 1, 0);
    }
  }
  builder.terminal_reward(found, 1);
  builder.start(length / 2);
  builder.discount(discount);
  return builder.build();
}

}  // namespace

// Process of elimination where trying takes walking: who remembers turns round at a wrong end.
ProblemKind entry_corridor() {
  return {.name = "corridor",
          .summary = "the goal is at the left end or at the right end of a corridor",
          .parameters = parameters(),
          .posterior =
              [](const Told& told) {
                return std::vector<double>{told.number("left"), 1 - told.number("left")};
              },
          .make =
              [](const Told& told, const std::vector<double>& weights) {
                const auto length = told.whole<State>("length");
                const double discount = told.number("discount");
                return make_problem("corridor",
                                    {{"left", corridor(length, true, discount), weights[0]},
                                     {"right", corridor(length, false, discount), weights[1]}});
              }};
}

}  // namespace agora::agents::epistemic::kind_corridor

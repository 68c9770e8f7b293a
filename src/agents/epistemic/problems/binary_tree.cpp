#include <agora/planning/builder.h>

#include "agents/epistemic/problem_kind.h"

namespace agora::agents::epistemic::kind_binary_tree {
namespace {

using planning::State;

std::vector<Parameter> parameters() {
  return {{"depth", 4, 1, 12, true, "moves from the top to the goal"},
          {"discount", 0.9, 0, kBelowOne, false, "of a move"}};
}

// Node k has the children 2k + 1 and 2k + 2. A move from the last level is to the goal, which is
// worth 1, or back to the top: so a round takes `depth` moves, as the thesis counts them.
planning::Model tree(int depth, bool left, double discount) {
  planning::ModelBuilder builder;
  const State nodes = (State{1} << depth) - 1, last = nodes / 2, goal = nodes;
  for (State s = 0; s < nodes; ++s) builder.state("node " + std::to_string(s));
  builder.state("goal");
  builder.action("left");
  builder.action("right");
  for (State s = 0; s < nodes; ++s) {
    for (const int a : {0, 1}) {
      State next = 2 * s + 1 + a;
      if (s >= last) next = next == (left ? nodes : 2 * nodes) ? goal : 0;
      builder.add(s, a, next, 1, 0);
    }
  }
  builder.terminal_reward(goal, 1);
  builder.discount(discount);
  return builder.build();
}

}  // namespace

// Prop. stochastic-dominated-random.
ProblemKind entry_binary_tree() {
  return {.name = "binary-tree",
          .summary = "the goal is the leftmost leaf or the rightmost; other leaves lead back",
          .parameters = parameters(),
          .posterior =
              [](const Told&) {
                return std::vector<double>{0.5, 0.5};
              },
          .make =
              [](const Told& told, const std::vector<double>& weights) {
                const int depth = told.whole("depth");
                const double discount = told.number("discount");
                return make_problem("binary-tree",
                                    {{"left", tree(depth, true, discount), weights[0]},
                                     {"right", tree(depth, false, discount), weights[1]}});
              }};
}

}  // namespace agora::agents::epistemic::kind_binary_tree

#include <agora/planning/builder.h>

#include "agents/epistemic/problem_kind.h"

namespace agora::agents::epistemic::kind_switching {
namespace {

using planning::State;

std::vector<Parameter> parameters() {
  return {{"chance", 0.1, 0, 1, false, "of the MDP where switching loses"},
          {"loss", 20, 0, 1e9, false, "of a switch there; it gains 1 in the other"},
          {"discount", 0.9, 0, kBelowOne, false, "of a step"}};
}

planning::Model switches(double reward, double discount) {
  planning::ModelBuilder builder;
  builder.state("here");
  builder.state("there");
  builder.action("stay");
  builder.action("switch");
  for (State s = 0; s < 2; ++s) {
    builder.add(s, 0, s, 1, 0);
    builder.add(s, 1, 1 - s, 1, reward);
  }
  builder.discount(discount);
  return builder.build();
}

}  // namespace

// Prop. deterministic-dominated-random.
ProblemKind entry_switching() {
  return {.name = "switching",
          .summary = "switching gains 1 and rarely loses more than all that: better stay",
          .parameters = parameters(),
          .posterior =
              [](const Told& told) {
                return std::vector<double>{1 - told.number("chance"), told.number("chance")};
              },
          .make =
              [](const Told& told, const std::vector<double>& weights) {
                const double discount = told.number("discount");
                return make_problem("switching",
                                    {{"A", switches(1, discount), weights[0]},
                                     {"B", switches(-told.number("loss"), discount), weights[1]}});
              }};
}

}  // namespace agora::agents::epistemic::kind_switching

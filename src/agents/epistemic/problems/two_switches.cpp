#include <agora/planning/builder.h>

#include "agents/epistemic/problem_kind.h"

namespace agora::agents::epistemic::kind_two_switches {
namespace {

using planning::State;

std::vector<Parameter> parameters() {
  return {{"loss", 2, 0, 1e9, false, "of the wrong switch; the right one gains 1"},
          {"discount", 0.9, 0, kBelowOne, false, "of a step"}};
}

planning::Model switches(double first, double second, double discount) {
  planning::ModelBuilder builder;
  builder.state("here");
  builder.state("there");
  for (const char* name : {"stay", "switch 1", "switch 2"}) builder.action(name);
  for (State s = 0; s < 2; ++s) {
    builder.add(s, 0, s, 1, 0);
    builder.add(s, 1, 1 - s, 1, first);
    builder.add(s, 2, 1 - s, 1, second);
  }
  builder.discount(discount);
  return builder.build();
}

}  // namespace

// Prop. suboptimal-actions-everywhere.
ProblemKind entry_two_switches() {
  return {.name = "two-switches",
          .summary = "one of two switches gains, the other loses more; staying is best nowhere",
          .parameters = parameters(),
          .posterior =
              [](const Told&) {
                return std::vector<double>{0.5, 0.5};
              },
          .make =
              [](const Told& told, const std::vector<double>& weights) {
                const double discount = told.number("discount"), loss = told.number("loss");
                return make_problem("two-switches",
                                    {{"A", switches(1, -loss, discount), weights[0]},
                                     {"B", switches(-loss, 1, discount), weights[1]}});
              }};
}

}  // namespace agora::agents::epistemic::kind_two_switches

#include <agora/planning/builder.h>

#include "agents/epistemic/problem_kind.h"

namespace agora::agents::epistemic::kind_zookeeper {
namespace {

using planning::Action;
using planning::State;

std::vector<Parameter> parameters() {
  return {{"enclosures", 4, 2, 20, true, "where the otters may be"},
          {"accuracy", 0.6, 0, 1, false, "chance that the map is read rightly in a new zoo"},
          {"peek", 0.95, 0, 1, false, "chance that peeking finds them"},
          {"seen", 0.5, 0, 1, false, "share of the zoos that are known from training"}};
}

// A zoo known from training for each enclosure, a new one, and the end. In the new one the map
// seems to say enclosure 0, and the otters are in `otters`.
planning::Model zoos(const Told& told, Action otters, double seen) {
  planning::ModelBuilder builder;
  const auto enclosures = told.whole<Action>("enclosures");
  for (Action k = 0; k < enclosures; ++k) builder.state("seen zoo " + std::to_string(k));
  const State fresh = builder.state("new zoo"), end = builder.state("end");
  for (Action k = 0; k < enclosures; ++k) builder.action("enter " + std::to_string(k));
  const Action peek = builder.action("peek");
  for (State zoo = 0; zoo <= fresh; ++zoo) {
    for (Action a = 0; a < enclosures; ++a) {
      builder.add(zoo, a, end, 1, a == (zoo == fresh ? otters : zoo) ? 1 : 0);
    }
    builder.add(zoo, peek, end, 1, told.number("peek"));
  }
  for (Action k = 0; k < enclosures; ++k) builder.start(k, seen / enclosures);
  builder.start(fresh, 1 - seen);
  return builder.build();
}

}  // namespace

// The example that the chapter opens with. Believed: the zoos of the training.
ProblemKind entry_zookeeper() {
  return {
      .name = "zookeeper",
      .summary = "read the map of a zoo and enter: 1 if the otters are there; or peek: .95",
      .parameters = parameters(),
      .posterior =
          [](const Told& told) {
            const int enclosures = told.whole("enclosures");
            const double accuracy = told.number("accuracy");
            std::vector<double> weights(static_cast<size_t>(enclosures),
                                        (1 - accuracy) / (enclosures - 1));
            weights[0] = accuracy;
            return weights;
          },
      .make =
          [](const Told& told, const std::vector<double>& weights) {
            std::vector<Member> members;
            for (Action k = 0; k < told.whole<Action>("enclosures"); ++k) {
              members.push_back({"otters in " + std::to_string(k),
                                 zoos(told, k, told.number("seen")),
                                 weights[static_cast<size_t>(k)]});
            }
            return make_problem("zookeeper", std::move(members), {{"training", zoos(told, 0, 1)}});
          }};
}

}  // namespace agora::agents::epistemic::kind_zookeeper

#include <agora/planning/builder.h>

#include "agents/epistemic/problem_kind.h"
#include "base/rng.h"

namespace agora::agents::epistemic::kind_random {
namespace {

using planning::Action;
using planning::State;

constexpr uint32_t kStream = 0x65706901;

std::vector<Parameter> parameters() {
  return {{"states", 3, 1, 100, true, "of every MDP"},
          {"actions", 2, 1, 100, true, "in every state"},
          {"models", 3, 1, 1000, true, "MDPs, of the same weight"},
          {"seed", 1, 0, 0x1p53, true, "of chances and rewards"},
          {"discount", 0.9, 0, kBelowOne, false, "of a step"}};
}

// Chances in proportion to exponential numbers, rewards from the normal law.
planning::Model model(const Told& told, uint32_t number) {
  planning::ModelBuilder builder;
  const auto states = told.whole<State>("states");
  for (State s = 0; s < states; ++s) {
    for (Action a = 0; a < told.whole<Action>("actions"); ++a) {
      Rng rng(told.whole<uint64_t>("seed"), kStream + number, static_cast<uint32_t>(a),
              static_cast<uint32_t>(s));
      std::vector<double> chances;
      double sum = 0;
      for (State t = 0; t < states; ++t) sum += chances.emplace_back(rng.exponential());
      const double reward = rng.normal();
      for (State t = 0; t < states; ++t) {
        builder.add(s, a, t, chances[static_cast<size_t>(t)] / sum, reward);
      }
    }
  }
  for (State s = 0; s < states; ++s) builder.start(s, 1.0 / states);
  builder.discount(told.number("discount"));
  return builder.build();
}

}  // namespace

ProblemKind entry_random() {
  return {.name = "random",
          .summary = "MDPs without an end, drawn by chance",
          .parameters = parameters(),
          .posterior =
              [](const Told& told) {
                const auto count = told.whole<size_t>("models");
                return std::vector<double>(count, 1 / static_cast<double>(count));
              },
          .make =
              [](const Told& told, const std::vector<double>& weights) {
                std::vector<Member> members;
                for (uint32_t k = 0; k < weights.size(); ++k) {
                  members.push_back({"MDP " + std::to_string(k), model(told, k), weights[k]});
                }
                return make_problem("random", std::move(members));
              }};
}

}  // namespace agora::agents::epistemic::kind_random

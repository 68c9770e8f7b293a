#pragma once
#include <agora/planning/builder.h>

#include "agents/epistemic/problem.h"
#include "base/rng.h"

namespace agora::agents::epistemic {

// Every state has every action; with `ends`, one more state is an end worth something.
inline planning::Model random_model(Rng& rng, planning::State states, planning::Action actions,
                                    bool ends, double discount) {
  planning::ModelBuilder builder;
  builder.reserve(states + (ends ? 1 : 0), actions);
  for (planning::State s = 0; s < states; ++s) {
    for (planning::Action a = 0; a < actions; ++a) {
      std::vector<double> chances;
      double sum = 0;
      for (planning::State t = 0; t < builder.states(); ++t) {
        chances.push_back(rng.below(3) == 0 ? 0 : rng.exponential());
        sum += chances.back();
      }
      if (sum == 0) sum = chances[0] = 1;
      for (size_t t = 0; t < chances.size(); ++t) {
        if (chances[t] > 0) {
          builder.add(s, a, static_cast<planning::State>(t), chances[t] / sum, rng.normal());
        }
      }
    }
  }
  if (ends) builder.terminal_reward(states, rng.normal());
  for (planning::State s = 0; s < states; ++s) builder.start(s, 1.0 / states);
  builder.discount(discount);
  return builder.build();
}

inline Problem random_problem(Rng& rng, planning::State states, planning::Action actions,
                              int members, bool ends, double discount) {
  std::vector<Member> all;
  double sum = 0;
  for (int i = 0; i < members; ++i) {
    all.push_back(
        {std::to_string(i), random_model(rng, states, actions, ends, discount), rng.exponential()});
    sum += all.back().weight;
  }
  for (Member& each : all) each.weight /= sum;
  return make_problem("random", std::move(all));
}

inline planning::Policy random_policy(Rng& rng, const planning::Model& model) {
  planning::Policy policy{model.actions(), {}, {}};
  for (planning::State s = 0; s < model.states(); ++s) {
    std::vector<double> row;
    double sum = 0;
    for (planning::Action a = 0; a < model.actions(); ++a) {
      row.push_back(model.terminal(s) ? 0 : rng.exponential());
      sum += row.back();
    }
    for (const double p : row) policy.probabilities.push_back(sum > 0 ? p / sum : 0);
  }
  return policy;
}

}  // namespace agora::agents::epistemic

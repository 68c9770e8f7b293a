#pragma once
// A batch that takes every branch of PPO's loss, for whoever computes it on his own.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "agents/ppo.h"
#include "base/rng.h"

namespace agora::agents {

// Weights of which the policy is far from uniform, and biases that are not zero.
inline void unsettle(PpoMember& member, Rng& rng) {
  for (const std::string& name : member.parameter_names()) {
    const auto held = member.variables().get(name);
    std::vector<float> values(held.begin(), held.end());
    for (float& value : values) {
      if (name.ends_with(".bias")) value += static_cast<float>(0.1 * rng.normal());
      if (name == "policy.actor.weight") value *= 100;
    }
    member.variables().set(name, std::span<const float>(values));
  }
}

// One step of `rows` environments: ratios and values on both sides of what is clipped.
inline Rollout made_rollout(PpoMember& member, const Space& space, bool masked, int64_t rows,
                            Rng& rng) {
  const auto n = static_cast<size_t>(rows), actions = static_cast<size_t>(space.actions);
  Rollout made;
  made.steps = 1;
  made.count = rows;
  for (int64_t k = 0; k < rows * space.observation.bytes(); ++k) {
    made.observations.push_back(static_cast<std::byte>(rng.below(256)));
  }
  std::vector<float> logits(n * actions), values(n);
  member.act(made.observations, rows, logits, values);
  for (size_t k = 0; k < n; ++k) {
    const auto action = static_cast<size_t>(rng.below(static_cast<uint32_t>(actions)));
    for (size_t a = 0; masked && a < actions; ++a) {
      made.masks.push_back(a == action || rng.uniform() < 0.6 ? 1 : 0);
      if (made.masks.back() == 0) logits[k * actions + a] += kForbidden;
    }
    double sum = 0;
    for (size_t a = 0; a < actions; ++a) sum += std::exp(double{logits[k * actions + a]});
    made.actions.push_back(static_cast<int32_t>(action));
    made.log_probs.push_back(
        static_cast<float>(logits[k * actions + action] - std::log(sum) + 0.4 * rng.normal()));
    made.values.push_back(values[k] + static_cast<float>(0.4 * rng.normal()));
    made.returns.push_back(made.values.back() + static_cast<float>(rng.normal()));
    made.advantages.push_back(static_cast<float>(1 + 2 * rng.normal()));
  }
  return made;
}

// The largest, or the sum, of the probabilities of two policies: (rows, actions).
inline std::vector<float> made_others(Link link, int64_t rows, int actions, Rng& rng) {
  std::vector<float> all;
  for (int64_t k = 0; k < rows; ++k) {
    std::vector<double> linked(static_cast<size_t>(actions));
    for (int policy = 0; policy < 2; ++policy) {
      std::vector<double> weights(linked.size());
      double sum = 0;
      for (double& weight : weights) sum += weight = std::exp(1.5 * rng.normal());
      for (size_t a = 0; a < linked.size(); ++a) {
        linked[a] = link == Link::kMax ? std::max(linked[a], weights[a] / sum)
                                       : linked[a] + weights[a] / sum;
      }
    }
    for (const double each : linked) all.push_back(static_cast<float>(each));
  }
  return all;
}

}  // namespace agora::agents

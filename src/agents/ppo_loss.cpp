#include "agents/ppo_loss.h"

#include "agents/rollout.h"
#include "base/error.h"
#include "compute/gradients.h"
#include "nn/categorical.h"

namespace agora::agents {
namespace {

using compute::kRows;
using compute::Tensor;

constexpr double kLeastProbability = 1e-30;
const std::string kPolicy = "policy", kValue = "value";

}  // namespace

bool is_of_policy(std::string_view parameter) { return parameter.starts_with(kPolicy + "."); }

Tensor forbidden(Tensor mask) { return (1.0 - mask) * static_cast<double>(kForbidden); }

Tensor log_of_probabilities(Tensor probabilities) {
  return log(compute::maximum(probabilities, kLeastProbability));
}

PpoLoss::PpoLoss(const Space& space, const NetworkOptions& network, const PpoOptions& options,
                 const Pull& pull, bool masked) {
  CHECK(!options.separate || !options.invariance, "a value of its own that is invariant");
  const Tensor observation = observation_input(graph, space.observation);
  const ActorCritic both(graph, kPolicy, space, network);
  seen = both(observation);
  Tensor mask;
  if (masked) mask = forbidden(graph.byte_input("mask", {kRows, space.actions}));
  const auto allowed = [&](Tensor logits) { return masked ? logits + mask : logits; };
  const Tensor logits = allowed(seen.logits);
  const Tensor action = graph.index_input("action", {kRows});
  const Tensor old_log_prob = graph.input("log_prob", {kRows});
  const Tensor old_value = graph.input("old_value", {kRows});
  const Tensor advantage = graph.input("advantage", {kRows});
  const Tensor target = graph.input("return", {kRows});

  // What the critic of a policy's features says is then only its part of an action's advantage.
  Tensor said;
  if (options.separate) {
    const Tensor of_action = graph.parameter("advantage.action", {space.actions}, nn::filled(0.0));
    said = seen.value + gather(of_action, action);
    seen.value = state_value(graph, kValue, observation, network);
  }

  const Tensor ratio = exp(nn::categorical_log_prob(logits, action) - old_log_prob);
  const Tensor clipped = compute::clip(ratio, 1 - options.clip, 1 + options.clip);
  policy = -mean(compute::minimum(ratio * advantage, clipped * advantage));
  const Tensor near =
      old_value + compute::clip(seen.value - old_value, -options.clip, options.clip);
  value = 0.5 * mean(compute::maximum(square(seen.value - target), square(near - target)));
  entropy = mean(nn::categorical_entropy(logits));
  const Tensor second = options.separate
                            ? options.separate->advantage * mean(square(said - advantage))
                            : options.value * value;
  loss = policy + second - options.entropy * entropy;
  if (pull.penalty > 0) {
    const Tensor others = graph.input("others", {kRows, space.actions});
    Tensor target_policy = others;
    if (pull.link) {
      const Tensor own = compute::softmax(logits, -1);
      target_policy = *pull.link == Link::kMax ? compute::maximum(others, own) : others + own;
    }
    disagreement = mean(
        nn::categorical_kl(logits, compute::stop_gradient(log_of_probabilities(target_policy))));
    loss = loss + pull.penalty * disagreement;
  }
  if (options.invariance) {
    const Heads moved = both(observation_input(graph, space.observation, "moved"));
    const Tensor fixed = compute::stop_gradient(logits);
    difference = mean(nn::categorical_kl(fixed, allowed(moved.logits)) +
                      0.5 * square(moved.value - compute::stop_gradient(seen.value)));
    loss = loss + options.invariance->weight * difference;
  }
  loss = loss.named("loss");
  const nn::Adam adam{.rate = nn::constant_rate(options.rate), .epsilon = options.adam_epsilon};
  const auto learn = [&](const char* name, Tensor from, const compute::Tensors& parameters) {
    const compute::Tensors slopes = compute::gradients(from, parameters);
    for (const Tensor each : parameters) names.push_back(each.node().name);
    gradients.insert(gradients.end(), slopes.begin(), slopes.end());
    return adam(name, parameters, nn::clip_by_global_norm(slopes, options.max_norm));
  };
  compute::Tensors parameters, of_value;
  for (const Tensor each : graph.parameters()) {
    (each.node().name.starts_with(kValue + ".") ? of_value : parameters).push_back(each);
  }
  updates = learn("adam", loss, parameters);
  if (options.separate) value_updates = learn("value_adam", value, of_value);
}

compute::Computation PpoLoss::acting() const {
  return {.outputs = {{"logits", seen.logits}, {"value", seen.value}}, .updates = {}};
}

compute::Computation PpoLoss::losses() const {
  compute::Computation task{.outputs = {{"loss", loss}, {"policy", policy}, {"entropy", entropy}},
                            .updates = {}};
  if (value_updates.empty()) task.outputs.push_back({"value", value});
  if (disagreement.graph != nullptr) task.outputs.push_back({"penalty", disagreement});
  if (difference.graph != nullptr) task.outputs.push_back({"difference", difference});
  return task;
}

compute::Computation PpoLoss::learning() const {
  compute::Computation task = losses();
  task.updates = updates;
  return task;
}

compute::Computation PpoLoss::learning_value() const {
  return {.outputs = {{"value", value}}, .updates = value_updates};
}

compute::Computation PpoLoss::slopes() const {
  compute::Computation task = losses();
  if (!value_updates.empty()) task.outputs.push_back({"value", value});
  for (size_t k = 0; k < names.size(); ++k) {
    task.outputs.push_back({"gradient." + names[k], gradients[k]});
  }
  return task;
}

}  // namespace agora::agents

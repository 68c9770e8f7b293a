#include "agents/ppo.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "agents/streams.h"
#include "base/error.h"
#include "compute/gradients.h"
#include "nn/categorical.h"
#include "nn/optimisers.h"

namespace agora::agents {
namespace {

using compute::Graph;
using compute::kRows;
using compute::Tensor;

constexpr double kLeastDeviation = 1e-8;
constexpr double kLeastProbability = 1e-30;

}  // namespace

Tensor forbidden(Tensor mask) { return (1.0 - mask) * static_cast<double>(kForbidden); }

Tensor log_of_probabilities(Tensor probabilities) {
  return log(compute::maximum(probabilities, kLeastProbability));
}

void rollout_probabilities(
    const Rollout& rollout, const Space& space,
    const std::function<void(std::span<const std::byte>, std::span<float> logits)>& logits_of,
    std::span<float> out) {
  const auto bytes = static_cast<size_t>(space.observation.bytes());
  const auto actions = static_cast<size_t>(space.actions);
  for (int64_t t = 0; t < rollout.steps; ++t) {
    const auto at = static_cast<size_t>(t * rollout.count);
    const auto logits = out.subspan(at * actions, rollout.count * actions);
    logits_of(std::span(rollout.observations).subspan(at * bytes, rollout.count * bytes), logits);
    if (!rollout.masks.empty()) {
      forbid(std::span(rollout.masks).subspan(at * actions, logits.size()), logits);
    }
    for (int64_t e = 0; e < rollout.count; ++e) {
      const auto row = logits.subspan(e * actions, actions);
      const float largest = *std::max_element(row.begin(), row.end());
      float sum = 0;
      for (float& each : row) sum += each = std::exp(each - largest);
      for (float& each : row) each /= sum;
    }
  }
}

struct PpoMember::Recorded {
  Recorded(const Space& space, const NetworkOptions& network, const PpoOptions& options,
           const Pull& pull, bool masked) {
    const Tensor observation = observation_input(graph, space.observation);
    seen = actor_critic(graph, "policy", observation, space.actions, network);
    Tensor logits = seen.logits;
    if (masked) {
      logits = logits + forbidden(graph.byte_input("mask", {kRows, space.actions}));
    }
    const Tensor action = graph.index_input("action", {kRows});
    const Tensor old_log_prob = graph.input("log_prob", {kRows});
    const Tensor old_value = graph.input("old_value", {kRows});
    const Tensor advantage = graph.input("advantage", {kRows});
    const Tensor target = graph.input("return", {kRows});

    const Tensor ratio = exp(nn::categorical_log_prob(logits, action) - old_log_prob);
    const Tensor clipped = compute::clip(ratio, 1 - options.clip, 1 + options.clip);
    policy = -mean(compute::minimum(ratio * advantage, clipped * advantage));
    const Tensor near =
        old_value + compute::clip(seen.value - old_value, -options.clip, options.clip);
    value = 0.5 * mean(compute::maximum(square(seen.value - target), square(near - target)));
    entropy = mean(nn::categorical_entropy(logits));
    loss = policy + options.value * value - options.entropy * entropy;
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
    loss = loss.named("loss");
    const compute::Tensors parameters = graph.parameters();
    const nn::Adam adam{.rate = nn::constant_rate(options.rate), .epsilon = options.adam_epsilon};
    const compute::Tensors gradients = compute::gradients(loss, parameters);
    updates = adam("adam", parameters, nn::clip_by_global_norm(gradients, options.max_norm));
    for (const Tensor each : parameters) names.push_back(each.node().name);
  }

  compute::Computation learning() const {
    compute::Computation task{
        .outputs = {{"loss", loss}, {"policy", policy}, {"value", value}, {"entropy", entropy}},
        .updates = updates};
    if (disagreement.graph != nullptr) task.outputs.push_back({"penalty", disagreement});
    return task;
  }

  Graph graph;
  Heads seen;
  Tensor policy, value, entropy, loss, disagreement;
  nn::Updates updates;
  std::vector<std::string> names;
};

PpoMember::PpoMember(const Space& space, const NetworkOptions& network, const PpoOptions& options,
                     const Pull& pull, bool masked, int64_t acting, int64_t samples)
    : PpoMember(std::make_unique<Recorded>(space, network, options, pull, masked), space, options,
                masked, acting, samples) {}

PpoMember::PpoMember(std::unique_ptr<Recorded> recorded, const Space& space,
                     const PpoOptions& options, bool masked, int64_t acting, int64_t samples)
    : space_(space),
      options_(options),
      linked_(recorded->disagreement.graph != nullptr),
      masked_(masked),
      rows_(samples / options.minibatches),
      recorded_(std::move(recorded)),
      parameters_(recorded_->names),
      variables_(recorded_->graph),
      act_(recorded_->graph, variables_,
           {.outputs = {{"logits", recorded_->seen.logits}, {"value", recorded_->seen.value}},
            .updates = {}},
           {.rows = acting}),
      learn_(recorded_->graph, variables_, recorded_->learning(), {.rows = rows_}) {
  CHECK(samples % options.minibatches == 0, "{} samples in {} minibatches", samples,
        options.minibatches);
  const auto rows = static_cast<size_t>(rows_);
  observations_.resize(rows * space.observation.bytes());
  actions_.resize(rows);
  order_.resize(static_cast<size_t>(samples));
  for (auto* each : {&log_probs_, &values_, &advantages_, &returns_}) each->resize(rows);
  if (linked_) others_.resize(rows * space.actions);
  if (masked_) masks_.resize(rows * space.actions);
}

PpoMember::~PpoMember() = default;

void PpoMember::initialise(uint64_t seed, int64_t member) {
  variables_.initialize(seed, stream(Stream::kWeights) + static_cast<uint32_t>(member));
}

void PpoMember::act(std::span<const std::byte> observations, int64_t rows, std::span<float> logits,
                    std::span<float> values) {
  act_in({}, observations.first(rows * space_.observation.bytes()), logits, values);
}

void PpoMember::value(std::span<const std::byte> observations, int64_t rows,
                      std::span<float> values) {
  logits_.resize(static_cast<size_t>(rows) * space_.actions);
  act(observations, rows, logits_, values);
}

void PpoMember::act_in(std::span<const float> contexts, std::span<const std::byte> observations,
                       std::span<float> logits, std::span<float> values) {
  set_observations(act_, space_.observation, observations);
  if (!contexts.empty()) act_.set("context", contexts);
  act_.run(compute::Check::kNothing);
  act_.read("logits", logits);
  act_.read("value", values);
}

void PpoMember::probabilities(const Rollout& rollout, std::span<float> out) {
  std::vector<float> values(static_cast<size_t>(rollout.count));
  rollout_probabilities(
      rollout, space_,
      [&](std::span<const std::byte> observations, std::span<float> logits) {
        act(observations, rollout.count, logits, values);
      },
      out);
}

PpoNumbers PpoMember::update(const Rollout& rollout, std::span<const float> others, uint64_t seed,
                             int64_t member, int64_t iteration) {
  CHECK(linked_ == !others.empty(), "a member {} a penalty", linked_ ? "with" : "without");
  const auto bytes = static_cast<size_t>(space_.observation.bytes());
  const auto actions = static_cast<size_t>(space_.actions);
  const auto samples = static_cast<size_t>(rollout.samples());
  const size_t context = rollout.contexts.size() / samples;
  contexts_.resize(static_cast<size_t>(rows_) * context);
  double sum = 0, square_sum = 0;
  for (const float each : rollout.advantages) sum += each;
  const double centre = sum / static_cast<double>(samples);
  for (const float each : rollout.advantages) square_sum += (each - centre) * (each - centre);
  const double deviation =
      std::sqrt(square_sum / std::max<double>(1, static_cast<double>(samples) - 1)) +
      kLeastDeviation;
  PpoNumbers total;
  const double runs = static_cast<double>(options_.epochs * options_.minibatches);
  for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    std::iota(order_.begin(), order_.end(), 0);
    Rng rng(seed, stream(Stream::kMinibatches), static_cast<uint32_t>(iteration),
            static_cast<uint32_t>(member * options_.epochs + epoch));
    rng.shuffle(order_);
    for (int64_t batch = 0; batch < options_.minibatches; ++batch) {
      for (size_t k = 0; k < static_cast<size_t>(rows_); ++k) {
        const auto from = static_cast<size_t>(order_[static_cast<size_t>(batch * rows_) + k]);
        std::memcpy(&observations_[k * bytes], &rollout.observations[from * bytes], bytes);
        actions_[k] = rollout.actions[from];
        log_probs_[k] = rollout.log_probs[from];
        values_[k] = rollout.values[from];
        advantages_[k] = static_cast<float>((rollout.advantages[from] - centre) / deviation);
        returns_[k] = rollout.returns[from];
        if (masked_) std::memcpy(&masks_[k * actions], &rollout.masks[from * actions], actions);
        std::copy_n(rollout.contexts.begin() + static_cast<int64_t>(from * context), context,
                    contexts_.begin() + static_cast<int64_t>(k * context));
        if (linked_) {
          std::memcpy(&others_[k * actions], &others[from * actions], actions * sizeof(float));
        }
      }
      set_observations(learn_, space_.observation, observations_);
      if (masked_) learn_.set("mask", std::span<const uint8_t>(masks_));
      learn_.set("action", std::span<const int32_t>(actions_));
      learn_.set("log_prob", std::span<const float>(log_probs_));
      learn_.set("old_value", std::span<const float>(values_));
      learn_.set("advantage", std::span<const float>(advantages_));
      learn_.set("return", std::span<const float>(returns_));
      if (context > 0) learn_.set("context", std::span<const float>(contexts_));
      if (linked_) learn_.set("others", std::span<const float>(others_));
      learn_.run();
      total.loss += learn_.scalar("loss") / runs;
      total.policy += learn_.scalar("policy") / runs;
      total.value += learn_.scalar("value") / runs;
      total.entropy += learn_.scalar("entropy") / runs;
      if (linked_) total.penalty += learn_.scalar("penalty") / runs;
    }
  }
  return total;
}

}  // namespace agora::agents

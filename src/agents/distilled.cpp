#include "agents/distilled.h"

#include <algorithm>
#include <cstring>

#include "agents/streams.h"
#include "base/error.h"
#include "compute/gradients.h"
#include "nn/categorical.h"
#include "nn/optimisers.h"

namespace agora::agents {

using compute::kRows;
using compute::Tensor;

struct DistilledPolicy::Recorded {
  Recorded(const Space& space, const NetworkOptions& network, const PpoOptions& options,
           bool masked) {
    seen =
        ActorCritic(graph, "policy", space, network)(observation_input(graph, space.observation));
    Tensor own = seen.logits;
    if (masked) own = own + forbidden(graph.byte_input("mask", {kRows, space.actions}));
    const Tensor theirs = graph.input("theirs", {kRows, space.actions});
    loss = mean(nn::categorical_kl(compute::stop_gradient(log_of_probabilities(theirs)), own))
               .named("loss");
    const compute::Tensors parameters = graph.parameters();
    const nn::Adam adam{.rate = nn::constant_rate(options.rate), .epsilon = options.adam_epsilon};
    updates = adam("adam", parameters,
                   nn::clip_by_global_norm(compute::gradients(loss, parameters), options.max_norm));
    for (const Tensor each : parameters) names.push_back(each.node().name);
  }

  compute::Graph graph;
  Heads seen;
  Tensor loss;
  nn::Updates updates;
  std::vector<std::string> names;
};

DistilledPolicy::DistilledPolicy(const Space& space, const NetworkOptions& network,
                                 const PpoOptions& options, bool masked, int64_t acting,
                                 int64_t samples)
    : DistilledPolicy(std::make_unique<Recorded>(space, network, options, masked), space, options,
                      masked, acting, samples) {}

DistilledPolicy::DistilledPolicy(std::unique_ptr<Recorded> recorded, const Space& space,
                                 const PpoOptions& options, bool masked, int64_t acting,
                                 int64_t samples)
    : space_(space),
      options_(options),
      masked_(masked),
      rows_(samples / options.minibatches),
      recorded_(std::move(recorded)),
      parameters_(recorded_->names),
      variables_(recorded_->graph),
      act_(recorded_->graph, variables_,
           {.outputs = {{"logits", recorded_->seen.logits}}, .updates = {}}, {.rows = acting}),
      learn_(recorded_->graph, variables_,
             {.outputs = {{"loss", recorded_->loss}}, .updates = recorded_->updates},
             {.rows = rows_}) {
  const auto rows = static_cast<size_t>(rows_);
  theirs_.resize(rows * space.actions);
  if (masked_) masks_.resize(rows * space.actions);
}

DistilledPolicy::~DistilledPolicy() = default;

void DistilledPolicy::initialise(uint64_t seed, int64_t member) {
  variables_.initialize(seed, stream(Stream::kWeights) + static_cast<uint32_t>(member));
}

void DistilledPolicy::probabilities(const Rollout& rollout, std::span<float> out) {
  rollout_probabilities(
      rollout, space_, rollout.count,
      [&](int64_t first, std::span<float> logits) {
        set_observations(act_, space_.observation, seen_in(rollout, space_, first, rollout.count));
        act_.run(compute::Check::kNothing);
        act_.read("logits", logits);
      },
      out);
}

double DistilledPolicy::update(const Rollout& rollout, std::span<const float> theirs, uint64_t seed,
                               int64_t member, int64_t iteration) {
  const auto actions = static_cast<size_t>(space_.actions);
  double total = 0;
  const auto learn = [&](std::span<const int32_t> chosen) {
    gather(chosen, [&](size_t k, size_t from) {
      std::memcpy(&theirs_[k * actions], &theirs[from * actions], actions * sizeof(float));
      if (masked_) std::memcpy(&masks_[k * actions], &rollout.masks[from * actions], actions);
    });
    set_observations(learn_, space_.observation, rollout.observations, chosen, observations_);
    if (masked_) learn_.set("mask", std::span<const uint8_t>(masks_));
    learn_.set("theirs", std::span<const float>(theirs_));
    learn_.run();
    total += learn_.scalar("loss");
  };
  each_minibatch(options_, rollout.samples(), Stream::kDistilling, seed, member, iteration, learn);
  return total / static_cast<double>(options_.epochs * options_.minibatches);
}

}  // namespace agora::agents

#include "agents/q_networks.h"

#include "agents/rollout.h"
#include "agents/streams.h"
#include "base/error.h"
#include "compute/gradients.h"
#include "nn/optimisers.h"

namespace agora::agents {
namespace {

using compute::Graph;
using compute::kRows;
using compute::Tensor;

const std::string kNetworks[] = {"first.", "second."};
const std::string kTarget = "target.";

}  // namespace

struct QNetworks::Recorded {
  Recorded(const Space& space, const NetworkOptions& network, const QOptions& options,
           bool masked) {
    const Tensor seen = observation_input(graph, space.observation);
    const Tensor next = observation_input(graph, space.observation, "next");
    const auto record = [&](const std::string& name, Tensor observation) {
      return action_values(graph, name + "policy", observation, space.actions, network);
    };
    const Tensor first = record(kNetworks[0], seen), second = record(kNetworks[1], seen);
    const compute::Tensors parameters = graph.parameters();
    least = compute::minimum(first, second);
    Tensor after = compute::minimum(record(kTarget + kNetworks[0], next),
                                    record(kTarget + kNetworks[1], next));
    if (masked) {
      const Tensor allowed = graph.byte_input("mask", {kRows, space.actions});
      after = after + (1.0 - allowed) * static_cast<double>(kForbidden);
    }
    const Tensor reward = graph.input("reward", {kRows}), goes_on = graph.input("goes_on", {kRows});
    target = compute::stop_gradient(reward + options.discount * goes_on * compute::max(after, {1}));

    const Tensor done = compute::one_hot(graph.index_input("action", {kRows}), space.actions);
    const auto error = [&](Tensor values) { return compute::sum(values * done, {1}) - target; };
    loss = (0.5 * (mean(square(error(first))) + mean(square(error(second))))).named("loss");
    const nn::Adam adam{.rate = nn::constant_rate(options.rate)};
    updates = adam("adam", parameters, compute::gradients(loss, parameters));
    for (const Tensor own : parameters) {
      const Tensor slow = graph.find(kTarget + own.node().name);
      updates.push_back({slow, slow + options.follow * (own - slow)});
    }
  }

  Graph graph;
  Tensor least, target, loss;
  nn::Updates updates;
};

QNetworks::QNetworks(const Space& space, const NetworkOptions& network, const QOptions& options,
                     bool masked, int64_t acting)
    : QNetworks(std::make_unique<Recorded>(space, network, options, masked), space, options, masked,
                acting) {}

QNetworks::QNetworks(std::unique_ptr<Recorded> recorded, const Space& space,
                     const QOptions& options, bool masked, int64_t acting)
    : space_(space),
      batch_(options.batch),
      masked_(masked),
      recorded_(std::move(recorded)),
      variables_(recorded_->graph),
      act_(recorded_->graph, variables_, {.outputs = {{"values", recorded_->least}}, .updates = {}},
           {.rows = acting}),
      learn_(recorded_->graph, variables_,
             {.outputs = {{"loss", recorded_->loss}, {"target", recorded_->target}},
              .updates = recorded_->updates},
             {.rows = options.batch}) {}

QNetworks::~QNetworks() = default;

void QNetworks::initialise(uint64_t seed) {
  variables_.initialize(seed, stream(Stream::kWeights));
  for (const std::string& name : variables_.names()) {
    if (name.starts_with(kTarget))
      variables_.set(name, variables_.get(name.substr(kTarget.size())));
  }
}

void QNetworks::values(std::span<const std::byte> observations, int64_t rows,
                       std::span<float> out) {
  const auto bytes = static_cast<size_t>(rows * space_.observation.bytes());
  set_observations(act_, space_.observation, observations.first(bytes));
  act_.run(compute::Check::kNothing);
  act_.read("values", out);
}

double QNetworks::update(const TransitionBatch& batch) {
  CHECK(static_cast<int64_t>(batch.actions.size()) == batch_, "{} transitions, planned for {}",
        batch.actions.size(), batch_);
  set_observations(learn_, space_.observation, batch.seen);
  set_observations(learn_, space_.observation, batch.next, "next");
  learn_.set("action", std::span<const int32_t>(batch.actions));
  learn_.set("reward", std::span<const float>(batch.rewards));
  learn_.set("goes_on", std::span<const float>(batch.goes_on));
  if (masked_) learn_.set("mask", std::span<const uint8_t>(batch.masks));
  learn_.run();
  return learn_.scalar("loss");
}

std::vector<float> QNetworks::targets() const {
  std::vector<float> all(static_cast<size_t>(batch_));
  learn_.read("target", all);
  return all;
}

std::vector<std::vector<StoredTensor>> QNetworks::members() const {
  std::vector<std::vector<StoredTensor>> both(2);
  for (StoredTensor& tensor : variables_.stored()) {
    for (size_t k = 0; k < 2; ++k) {
      if (!tensor.name.starts_with(kNetworks[k])) continue;
      tensor.name = tensor.name.substr(kNetworks[k].size());
      both[k].push_back(std::move(tensor));
      break;
    }
  }
  return both;
}

}  // namespace agora::agents

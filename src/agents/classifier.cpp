#include "agents/classifier.h"

#include <algorithm>
#include <cstring>

#include "agents/saved_tensors.h"
#include "agents/streams.h"
#include "base/error.h"
#include "compute/gradients.h"
#include "nn/categorical.h"
#include "nn/optimisers.h"

namespace agora::agents {
namespace {

using compute::kRows;
using compute::Tensor;

const std::string kVariables = "variables.";

}  // namespace

struct Classifier::Learning {
  struct Recorded {
    Recorded(const Space& space, const ClassifierOptions& options) {
      const Tensor logits =
          action_values(graph, "policy", observation_input(graph, space.observation), space.actions,
                        options.network);
      const compute::Tensors parameters = graph.parameters();
      const Tensor label = graph.index_input("label", {kRows});
      loss = (-mean(nn::categorical_log_prob(logits, label))).named("loss");
      updates = nn::Adam{.rate = nn::constant_rate(options.rate)}(
          "adam", parameters, compute::gradients(loss, parameters));
    }
    compute::Graph graph;
    Tensor loss;
    nn::Updates updates;
  };

  Learning(const Space& space, const ClassifierOptions& options)
      : recorded(space, options),
        variables(recorded.graph),
        program(recorded.graph, variables,
                {.outputs = {{"loss", recorded.loss}}, .updates = recorded.updates},
                {.rows = options.batch}) {
    variables.initialize(options.seed, stream(Stream::kWeights));
  }

  Recorded recorded;
  compute::Variables variables;
  compute::Program program;
};

Classifier::Classifier(const LabelledLevels& levels, const ClassifierOptions& options)
    : levels_(levels), options_(options) {
  options_.network = resolved(options.network, levels.space.observation);
  learning_ = std::make_unique<Learning>(levels.space, options_);
}

Classifier::~Classifier() = default;

void Classifier::advance(int64_t updates) {
  const auto bytes = static_cast<size_t>(levels_.space.observation.bytes());
  const auto rows = static_cast<size_t>(options_.batch);
  std::vector<std::byte> seen(rows * bytes);
  std::vector<int32_t> labels(rows);
  for (int64_t k = 0; k < updates; ++k) {
    for (size_t row = 0; row < rows; ++row) {
      Rng rng(options_.seed, stream(Stream::kMinibatches), static_cast<uint32_t>(update_),
              static_cast<uint32_t>(row));
      const size_t drawn = rng.below(static_cast<uint32_t>(levels_.count()));
      std::memcpy(&seen[row * bytes], &levels_.observations[drawn * bytes], bytes);
      labels[row] = levels_.labels[drawn];
    }
    compute::Program& program = learning_->program;
    set_observations(program, levels_.space.observation, seen);
    program.set("label", std::span<const int32_t>(labels));
    program.run();
    loss_ += program.scalar("loss");
    ++losses_;
    ++update_;
  }
}

std::vector<StoredTensor> Classifier::tensors() const {
  std::vector<StoredTensor> all;
  save_variables(learning_->variables, kVariables, all);
  const std::vector<double> numbers{static_cast<double>(update_), loss_, losses_};
  all.push_back(StoredTensor::of<double>("numbers", {3}, numbers));
  return all;
}

void Classifier::restore(const Checkpoint& checkpoint) {
  const TensorFile& saved = checkpoint.tensors;
  load_variables(learning_->variables, kVariables, saved);
  const auto numbers = saved.at("numbers", {3}).values<double>();
  update_ = static_cast<int64_t>(numbers[0]);
  loss_ = numbers[1];
  losses_ = numbers[2];
}

NamedNumbers Classifier::numbers() {
  const NamedNumbers all{{"updates", static_cast<double>(update_)},
                         {"loss", loss_ / std::max(1.0, losses_)}};
  loss_ = losses_ = 0;
  return all;
}

SavedPolicy Classifier::policy() const {
  SavedPolicy saved;
  saved.environment = levels_.environment;
  saved.environment_arguments = levels_.arguments;
  saved.levels = levels_.count();
  saved.space = levels_.space;
  saved.network = options_.network;
  saved.head = Head::kValues;
  saved.temperature = 1;
  saved.members.emplace_back();
  for (StoredTensor& each : learning_->variables.stored()) {
    if (each.name.starts_with("policy.")) saved.members[0].push_back(std::move(each));
  }
  return saved;
}

}  // namespace agora::agents

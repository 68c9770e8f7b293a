#include <agora/agents.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agents/algorithm.h"
#include "agents/evaluation/evaluate.h"
#include "base/checkpoint_file.h"
#include "base/error.h"

namespace agora::agents {
namespace {

class LearnedAgent : public Agent {
 public:
  explicit LearnedAgent(SavedPolicy saved) : saved_(std::move(saved)) {}

  const std::string& environment() const override { return saved_.environment; }
  int64_t observation_bytes() const override { return saved_.space.observation.bytes(); }
  int actions() const override { return saved_.space.actions; }

  std::vector<double> probabilities(std::span<const std::byte> observation) override {
    if (static_cast<int64_t>(observation.size()) != observation_bytes()) {
      throw user_error("an observation of {} bytes, expected {}", observation.size(),
                       observation_bytes());
    }
    if (policy_ == nullptr) policy_ = make_policy(saved_, 1);
    std::vector<float> logits(static_cast<size_t>(actions()));
    policy_->logits(observation, 1, logits);
    const float largest = *std::max_element(logits.begin(), logits.end());
    std::vector<double> all;
    double sum = 0;
    for (const float each : logits) {
      all.push_back(std::exp(static_cast<double>(each - largest)));
      sum += all.back();
    }
    for (double& each : all) each /= sum;
    return all;
  }

  void did(int action) override {
    if (action < 0 || action >= actions()) {
      throw user_error("action {}, expected 0 to {}", action, actions() - 1);
    }
    const auto done = static_cast<int32_t>(action);
    if (policy_ != nullptr) policy_->did(std::span(&done, 1));
  }
  void forget() override {
    if (policy_ != nullptr) policy_->forget(0);
  }
  void save(const std::string& file) const override { save_policy(file, saved_); }
  const SavedPolicy& saved() const { return saved_; }

 private:
  SavedPolicy saved_;
  std::unique_ptr<Policy> policy_;
};

AgentOptions options_of(const Learning& learning) {
  const auto at_least_one = [](int64_t number, const char* what) {
    if (number < 1) throw user_error("{}: expected a positive number, found {}", what, number);
  };
  at_least_one(learning.levels, "levels");
  at_least_one(learning.steps, "steps");
  at_least_one(learning.environments, "environments");
  at_least_one(learning.width, "width");
  at_least_one(learning.hidden_layers, "hidden_layers");
  at_least_one(learning.channels, "channels");
  at_least_one(learning.report_every, "report_every");
  return {.environment = environment_name(learning.environment),
          .environment_arguments = learning.environment_arguments,
          .levels = Levels::range(0, learning.levels),
          .steps = learning.steps,
          .environments = learning.environments,
          .seed = learning.seed,
          .network = {.kind = learning.network,
                      .width = learning.width,
                      .layers = learning.hidden_layers,
                      .channels = learning.channels},
          .arguments = learning.arguments};
}

std::string words_of(const Arguments& arguments) {
  std::string words;
  for (const auto& [name, argument] : arguments) {
    std::visit([&, key = name](const auto& value) { words += fmt::format("{}={} ", key, value); },
               argument.value());
  }
  return words;
}

// Whose a checkpoint is.
std::map<std::string, std::string> words_of(const Learning& how) {
  return {{"algorithm", how.algorithm + " " + words_of(how.arguments)},
          {"environment", how.environment + " " + words_of(how.environment_arguments)},
          {"size", fmt::format("{} levels, {} steps of {} environments", how.levels, how.steps,
                               how.environments)},
          {"network",
           fmt::format("{} {} {} {}", how.network, how.width, how.hidden_layers, how.channels)},
          {"seed", std::to_string(how.seed)}};
}

struct Stop {};

}  // namespace

std::unique_ptr<Agent> learn(const Learning& learning) {
  const auto learner = algorithm_named(learning.algorithm).make(options_of(learning));
  CheckpointFile file(learning.checkpoint, words_of(learning));
  Checkpoints* const kept = learning.checkpoint.empty() ? nullptr : &file;
  const auto report = [&](const NamedNumbers& numbers) -> std::string {
    LearningProgress now{.steps = learner->environment_steps(), .total = learning.steps};
    for (const auto& [name, value] : numbers) {
      if (name == "return") now.mean_return = value;
      if (name == "episodes") now.episodes = static_cast<int64_t>(value);
    }
    if (learning.progress && !learning.progress(now)) throw Stop();
    return "";
  };
  try {
    agora::learn(*learner, {.kept = kept, .log_every = learning.report_every, .note = report});
  } catch (const Stop&) {
    if (kept != nullptr) kept->save(learner->step(), learner->tensors(), nullptr);
  }
  return std::make_unique<LearnedAgent>(learner->policy());
}

std::unique_ptr<Agent> load_agent(const std::string& file) {
  return std::make_unique<LearnedAgent>(load_policy(file));
}

Returns returns(const Agent& agent, const ReturnsOptions& options) {
  const auto* learned = dynamic_cast<const LearnedAgent*>(&agent);
  if (learned == nullptr) throw user_error("returns: expected an agent of learn() or load_agent()");
  const SavedPolicy& saved = learned->saved();
  const EvaluationOptions how{
      .environment = saved.environment,
      .environment_arguments = saved.environment_arguments,
      .levels = options.unseen ? Levels::range(saved.levels, Levels::kAll - saved.levels)
                               : Levels::range(0, saved.levels),
      .episodes = options.episodes,
      .greedy = options.greedy,
      .seed = options.seed};
  const Evaluation found = evaluate(*make_policy(saved, how.environments), how);
  return {found.mean, found.low, found.high, found.length, found.returns};
}

}  // namespace agora::agents

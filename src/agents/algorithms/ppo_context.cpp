#include <algorithm>
#include <cmath>

#include "agents/context.h"
#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"
#include "agents/saved_tensors.h"
#include "agents/streams.h"
#include "base/error.h"
#include "nn/categorical.h"

namespace agora::agents::kind_ppo_context {
namespace {

constexpr int64_t kMostLevels = 10'000;
constexpr const char* kEncoder = "encoder.";

std::vector<Parameter> parameters() {
  const EncoderOptions preset;
  return both(ppo_parameters(), {{"context", static_cast<double>(preset.hidden), 1, 10'000, true,
                                  "numbers that the encoder tells the policy"},
                                 {"chunk", static_cast<double>(preset.chunk), 1, 1000, true,
                                  "steps that the encoder's gradient goes back"},
                                 {"encoder-rate", preset.rate, kAboveZero, kFinite, false,
                                  "Adam's learning rate for the encoder"}});
}

// PPO whose policy is told, beside what it sees, what a recurrent encoder makes of the episode so
// far. The encoder learns to tell the training levels apart; the policy's gradient does not reach
// it.
class PpoContext : public AgentLearner, private Actor {
 public:
  PpoContext(const AgentOptions& agent, const EnsembleOptions& options, EncoderOptions encoder)
      : agent_(agent),
        options_(options),
        player_(make_environment(agent.environment, {.levels = agent.levels,
                                                     .count = agent.environments,
                                                     .seed = agent.seed,
                                                     .arguments = agent.environment_arguments}),
                options.rollout, options.reward_discount, agent.seed) {
    const Space& space = player_.environment().space();
    const int64_t samples = options.rollout * agent.environments;
    expect_chunks(encoder.chunk, samples);
    agent_.network = resolved(agent.network, space.observation);
    encoder.network = agent_.network;
    agent_.network.context = encoder.hidden;
    encoder_options_ = encoder;
    encoder_ = std::make_unique<ContextEncoder>(space, encoder, agent.environments,
                                                samples / encoder.chunk / options.ppo.minibatches);
    encoder_->initialise(agent.seed, stream(Stream::kWeights) + 1);
    learner_ = std::make_unique<PpoMember>(space, agent_.network, options.ppo, Pull{},
                                           !player_.environment().masks().empty(),
                                           agent.environments, samples);
    learner_->initialise(agent.seed, 0);
    const auto hidden = static_cast<size_t>(encoder.hidden), rows = static_cast<size_t>(samples);
    contexts_.resize(static_cast<size_t>(agent.environments) * hidden);
    before_.resize(rows * hidden);
    levels_.resize(rows);
    player_.rollout().contexts.resize(rows * hidden);
    iterations_ = std::max<int64_t>(1, (agent.steps + samples - 1) / samples);
  }

  int64_t total() const override { return iterations_; }
  int64_t environment_steps() const override { return iteration_ * player_samples(); }

  std::vector<StoredTensor> tensors() const override {
    std::vector<StoredTensor> all = player_.save("player.");
    for (StoredTensor& each : learner_->variables().stored()) all.push_back(std::move(each));
    for (StoredTensor& each : encoder_->variables().stored()) all.push_back(std::move(each));
    all.push_back(
        StoredTensor::of<float>("contexts", {static_cast<int64_t>(contexts_.size())}, contexts_));
    const std::vector<double> numbers{
        seen_.loss,    seen_.policy, seen_.value, seen_.entropy,
        seen_encoder_, right_,       told_,       static_cast<double>(updates_)};
    all.push_back(
        StoredTensor::of<double>("numbers", {static_cast<int64_t>(numbers.size())}, numbers));
    all.push_back(StoredTensor::of<int64_t>("iteration", {1}, std::vector<int64_t>{iteration_}));
    return all;
  }

  void restore(const Checkpoint& checkpoint) override { load(checkpoint.tensors); }

  NamedNumbers numbers() override {
    const Ended ended = player_.ended();
    const auto episodes = static_cast<double>(std::max<int64_t>(1, ended.episodes));
    const auto updates = static_cast<double>(std::max<int64_t>(1, updates_));
    NamedNumbers all{{"steps", static_cast<double>(environment_steps())},
                     {"return", ended.returns / episodes},
                     {"length", static_cast<double>(ended.steps) / episodes},
                     {"episodes", static_cast<double>(ended.episodes)},
                     {"loss", seen_.loss / updates},
                     {"value_loss", seen_.value / updates},
                     {"entropy", seen_.entropy / updates},
                     {"encoder_loss", seen_encoder_ / updates},
                     {"level_accuracy", right_ / std::max(1.0, told_)}};
    seen_ = {};
    seen_encoder_ = right_ = told_ = 0;
    updates_ = 0;
    return all;
  }

  SavedPolicy policy() const override {
    SavedPolicy saved = policy_without_members(agent_, player_.environment().space());
    saved.members = {stored_under(learner_->variables(), learner_->policy_names())};
    saved.encoder_levels = encoder_options_.levels;
    saved.encoder = stored_under(encoder_->variables(), encoder_->parameter_names());
    return saved;
  }

 private:
  int64_t player_samples() const { return options_.rollout * agent_.environments; }

  void expect_chunks(int64_t chunk, int64_t samples) const {
    if (options_.rollout % chunk != 0 || samples % options_.ppo.minibatches != 0 ||
        (samples / chunk) % options_.ppo.minibatches != 0) {
      throw user_error(
          "{} environments with {} steps each cannot be cut into {} minibatches of chunks of {}",
          agent_.environments, options_.rollout, options_.ppo.minibatches, chunk);
    }
  }

  void iterate() override {
    at_ = 0;
    Rollout& rollout = player_.rollout();
    player_.play(*this);
    estimate_advantages(rollout, options_.ppo.discount, options_.ppo.lambda);
    const PpoNumbers now = learner_->update(rollout, {}, agent_.seed, 0, iteration_);
    seen_.loss += now.loss;
    seen_.policy += now.policy;
    seen_.value += now.value;
    seen_.entropy += now.entropy;
    seen_encoder_ += encoder_->update(rollout, before_, levels_, agent_.seed, iteration_);
    ++updates_;
  }

  void act(std::span<const std::byte> observations, int64_t rows, std::span<float> logits,
           std::span<float> values) override {
    const auto first = static_cast<size_t>(at_ * rows);
    std::copy(contexts_.begin(), contexts_.end(),
              before_.begin() + static_cast<int64_t>(first * encoder_options_.hidden));
    encoder_->encode(observations, contexts_);
    std::copy(
        contexts_.begin(), contexts_.end(),
        player_.rollout().contexts.begin() + static_cast<int64_t>(first * encoder_options_.hidden));
    const auto played = player_.environment().levels();
    const auto levels = static_cast<size_t>(encoder_options_.levels);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      levels_[first + row] = static_cast<int32_t>(played[row]);
      right_ += nn::most_likely(encoder_->guesses().subspan(row * levels, levels)) ==
                levels_[first + row];
    }
    told_ += static_cast<double>(rows);
    learner_->act_in(contexts_, observations, logits, values);
    ++at_;
  }

  void value(std::span<const std::byte> observations, int64_t rows,
             std::span<float> values) override {
    std::vector<float> contexts = contexts_,
                       logits(static_cast<size_t>(rows) * player_.environment().space().actions);
    encoder_->encode(observations, contexts);
    learner_->act_in(contexts, observations, logits, values);
  }

  void ended(std::span<const End> ends) override {
    const int64_t hidden = encoder_options_.hidden;
    for (size_t row = 0; row < ends.size(); ++row) {
      if (ends[row] == End::kNone) continue;
      std::fill_n(contexts_.begin() + static_cast<int64_t>(row) * hidden, hidden, 0.0F);
    }
  }

  void load(const TensorFile& saved) override {
    player_.restore(saved, "player.");
    learner_->variables().load(
        named_below(saved, "", {kEncoder, "player.", "contexts", "numbers", "iteration"}));
    TensorFile encoder = named_below(saved, kEncoder, {});
    for (StoredTensor& each : encoder.tensors) each.name = kEncoder + each.name;
    encoder_->variables().load(encoder);
    contexts_ = expect_tensor(saved, "contexts", contexts_.size()).values<float>();
    const auto numbers = expect_tensor(saved, "numbers", 8).values<double>();
    seen_ = {numbers[0], numbers[1], numbers[2], numbers[3]};
    seen_encoder_ = numbers[4];
    right_ = numbers[5];
    told_ = numbers[6];
    updates_ = static_cast<int64_t>(numbers[7]);
    iteration_ = expect_tensor(saved, "iteration", 1).values<int64_t>()[0];
  }

  AgentOptions agent_;
  EnsembleOptions options_;
  EncoderOptions encoder_options_;
  Player player_;
  std::unique_ptr<PpoMember> learner_;
  std::unique_ptr<ContextEncoder> encoder_;
  std::vector<float> contexts_;  // (environments, n): of the episodes under way
  std::vector<float> before_;    // (steps, environments, n): before each step
  std::vector<int32_t> levels_;  // (steps, environments)
  int64_t iterations_ = 0, at_ = 0;
  // Since numbers() was called.
  PpoNumbers seen_;
  double seen_encoder_ = 0, right_ = 0, told_ = 0;
  int64_t updates_ = 0;
};

}  // namespace

Algorithm entry_ppo_context() {
  return {.name = "ppo-context",
          .summary = "PPO that is told what a recurrent encoder makes of the episode so far",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("ppo-context", parameters(), options.arguments);
            if (!options.levels.is_range() || options.levels[0] != 0 ||
                options.levels.size() > kMostLevels) {
              throw user_error("ppo-context tells levels apart: it takes levels 0 to at most {}",
                               kMostLevels - 1);
            }
            EncoderOptions encoder;
            encoder.levels = options.levels.size();
            encoder.hidden = told.whole<int64_t>("context");
            encoder.chunk = told.whole<int64_t>("chunk");
            encoder.rate = told.number("encoder-rate");
            return std::make_unique<PpoContext>(options, ensemble_told(told), encoder);
          }};
}

}  // namespace agora::agents::kind_ppo_context

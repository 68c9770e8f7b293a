// Deep Q-learning with the lesser of two networks, as section 3.4 of the thesis uses it: play with
// now and then a random action, remember what followed, and learn from memories drawn at random.
#include <algorithm>
#include <cmath>

#include "agents/algorithm.h"
#include "agents/ppo_parameters.h"
#include "agents/q_networks.h"
#include "agents/replay.h"
#include "agents/rollout.h"
#include "agents/saved_tensors.h"
#include "agents/streams.h"
#include "base/error.h"
#include "base/signals.h"
#include "nn/categorical.h"

namespace agora::agents::kind_dqn {
namespace {

constexpr int64_t kMostKnown = 10'000'000;
const std::string kNetworks = "networks.";

std::vector<Parameter> parameters() {
  const QOptions preset;
  return both(
      ppo_parameters({"rate", "discount"}),
      {{"every", 4, 1, 100'000, true, "steps of each environment between two rounds of updates"},
       {"updates", 8, 1, 1'000'000, true, "of the networks in a round"},
       {"batch", static_cast<double>(preset.batch), 1, 1'000'000, true,
        "transitions that an update looks at"},
       {"memory", 50'000, 1, 100'000'000, true, "transitions remembered, the latest ones"},
       {"follow", preset.follow, kAboveZero, 1, false,
        "share of its way that a target network goes in an update"},
       {"epsilon", 0.05, 0, 1, false, "share of random actions in the end"},
       {"explore", 0.2, 0, 1, false, "share of all steps in which it falls to that from 1"},
       {"temperature", 0, 0, kFinite, false,
        "of the policy that is kept, a softmax of values; 0 takes the best action"},
       flag("prefill", "begin with a memory of every action in the first state of every level")});
}

class Dqn : public AgentLearner {
 public:
  Dqn(const AgentOptions& agent, const Told& told)
      : agent_(agent),
        every_(told.whole<int64_t>("every")),
        updates_(told.whole<int64_t>("updates")),
        batch_rows_(told.whole<int64_t>("batch")),
        epsilon_(told.number("epsilon")),
        explore_(told.number("explore")),
        temperature_(told.number("temperature")),
        environment_(
            make_environment(agent.environment, {.levels = agent.levels,
                                                 .count = agent.environments,
                                                 .seed = agent.seed,
                                                 .arguments = agent.environment_arguments})),
        space_(environment_->space()),
        masked_(!environment_->masks().empty()),
        played_(space_, masked_, told.whole<int64_t>("memory")),
        known_(space_, masked_, kMostKnown),
        pending_(space_, masked_, every_ * agent.environments),
        batch_(space_, masked_, batch_rows_) {
    agent_.network = resolved(agent.network, space_.observation);
    const QOptions how{.rate = told.number("rate"),
                       .discount = told.number("discount"),
                       .follow = told.number("follow"),
                       .batch = batch_rows_};
    networks_ =
        std::make_unique<QNetworks>(space_, agent_.network, how, masked_, agent.environments);
    networks_->initialise(agent.seed);
    const auto count = static_cast<size_t>(agent.environments);
    values_.resize(count * static_cast<size_t>(space_.actions));
    chosen_.resize(count);
    earned_.resize(count);
    length_.resize(count);
    steps_each_ = every_ * agent.environments;
    iterations_ = std::max<int64_t>(1, (agent.steps + steps_each_ - 1) / steps_each_);
    if (!told.flag("prefill")) {
      if (told.number("memory") >= told.number("batch")) return;
      throw user_error("dqn: a memory of {} transitions never fills a batch of {}",
                       told.number("memory"), batch_rows_);
    }
    if (agent.levels.size() > kMostKnown / space_.actions) {
      throw user_error(
          "dqn: prefill would remember {} levels with {} actions each, expected {} in all at most",
          agent.levels.size(), space_.actions, kMostKnown);
    }
    for (int64_t k = 0; k < agent.levels.size(); ++k) {
      throw_if_stopped();
      try_every_action(agent.environment, agent.environment_arguments, agent.levels[k],
                       space_.actions, [&](const Transition& each) { known_.add(each); });
    }
  }

  int64_t total() const override { return iterations_; }
  int64_t environment_steps() const override { return iteration_ * steps_each_; }

  std::vector<StoredTensor> tensors() const override {
    return both(state(), played_.save("memory."));
  }
  void restore(const Checkpoint& checkpoint) override {
    played_.restore(checkpoint.tensors, "memory.");
    load(checkpoint.tensors);
  }

  NamedNumbers numbers() override {
    const auto episodes = static_cast<double>(std::max<int64_t>(1, ended_.episodes));
    NamedNumbers all{{"steps", static_cast<double>(environment_steps())},
                     {"return", ended_.returns / episodes},
                     {"length", static_cast<double>(ended_.steps) / episodes},
                     {"episodes", static_cast<double>(ended_.episodes)},
                     {"loss", loss_ / std::max(1.0, losses_)},
                     {"epsilon", epsilon(iteration_ * every_)}};
    ended_ = {};
    loss_ = losses_ = 0;
    return all;
  }

  SavedPolicy policy() const override {
    SavedPolicy saved = policy_without_members(agent_, space_);
    saved.head = Head::kValues;
    saved.temperature = temperature_;
    saved.members = networks_->members();
    return saved;
  }

 private:
  double epsilon(int64_t step) const {
    const double whole = explore_ * static_cast<double>(iterations_ * every_);
    const double share = whole > 0 ? std::min(1.0, static_cast<double>(step) / whole) : 1.0;
    return 1 + share * (epsilon_ - 1);
  }

  // One step of all environments, after so many.
  void play(int64_t step) {
    const auto actions = static_cast<size_t>(space_.actions);
    const std::vector<std::byte> seen(environment_->observations().begin(),
                                      environment_->observations().end());
    networks_->values(seen, agent_.environments, values_);
    forbid(environment_->masks(), values_);
    for (size_t e = 0; e < chosen_.size(); ++e) {
      Rng rng(agent_.seed, stream(Stream::kActions), static_cast<uint32_t>(step),
              static_cast<uint32_t>(e));
      const auto row = std::span(values_).subspan(e * actions, actions);
      if (rng.uniform() < epsilon(step)) {  // all that may be done are alike
        for (float& each : row) each = each > kForbidden / 2 ? 0 : kForbidden;
        chosen_[e] = nn::sample_categorical(row, rng);
      } else {
        chosen_[e] = nn::most_likely(row);
      }
    }
    environment_->step(chosen_);
    tell_transitions(*environment_, seen, chosen_,
                     [&](int64_t, const Transition& each) { pending_.add(each); });
    for (size_t e = 0; e < chosen_.size(); ++e) {
      earned_[e] += environment_->rewards()[e];
      ++length_[e];
      if (environment_->ends()[e] == End::kNone) continue;
      ++ended_.episodes;
      ended_.returns += std::exchange(earned_[e], 0.0);
      ended_.steps += std::exchange(length_[e], 0);
    }
  }

  void learn() {
    const int64_t memories = known_.size() + played_.size();
    if (memories < batch_rows_) return;
    for (int64_t k = 0; k < updates_; ++k) {
      for (int64_t row = 0; row < batch_rows_; ++row) {
        Rng rng(agent_.seed, stream(Stream::kReplay),
                static_cast<uint32_t>(iteration_ * updates_ + k), static_cast<uint32_t>(row));
        const int64_t drawn = rng.below(static_cast<uint32_t>(memories));
        if (drawn < known_.size()) {
          known_.copy(drawn, batch_, row);
        } else {
          played_.copy(drawn - known_.size(), batch_, row);
        }
      }
      loss_ += networks_->update(batch_);
      ++losses_;
    }
  }

  // What was just played is learned from in the iterations that follow, and remembered last of all:
  // the memory is not among what a signal undoes.
  void iterate() override {
    pending_ = Replay(space_, masked_, steps_each_);
    for (int64_t t = 0; t < every_; ++t) play(iteration_ * every_ + t);
    learn();
    for (int64_t k = 0; k < pending_.size(); ++k) played_.add(pending_[k]);
  }

  // All that changes but the memory.
  std::vector<StoredTensor> state() const override {
    std::vector<StoredTensor> all = environment_->save("environment.");
    save_variables(networks_->variables(), kNetworks, all);
    const auto count = static_cast<int64_t>(earned_.size());
    all.push_back(StoredTensor::of<double>("earned", {count}, earned_));
    all.push_back(StoredTensor::of<int64_t>("length", {count}, length_));
    const std::vector<double> numbers{static_cast<double>(ended_.episodes),
                                      static_cast<double>(ended_.steps), ended_.returns, loss_,
                                      losses_};
    all.push_back(StoredTensor::of<double>("numbers", {5}, numbers));
    const std::vector<int64_t> iteration{iteration_};
    all.push_back(StoredTensor::of<int64_t>("iteration", {1}, iteration));
    return all;
  }

  void load(const TensorFile& saved) override {
    environment_->restore(saved, "environment.");
    load_variables(networks_->variables(), kNetworks, saved);
    const auto count = static_cast<int64_t>(earned_.size());
    earned_ = saved.at("earned", {count}).values<double>();
    length_ = saved.at("length", {count}).values<int64_t>();
    const auto numbers = saved.at("numbers", {5}).values<double>();
    ended_ = {static_cast<int64_t>(numbers[0]), static_cast<int64_t>(numbers[1]), numbers[2]};
    loss_ = numbers[3];
    losses_ = numbers[4];
    iteration_ = saved.at("iteration", {1}).values<int64_t>()[0];
  }

  AgentOptions agent_;
  int64_t every_, updates_, batch_rows_;
  double epsilon_, explore_, temperature_;
  std::unique_ptr<Environment> environment_;
  Space space_;
  bool masked_;
  Replay played_, known_, pending_;  // known_ is the same in every run and not saved
  TransitionBatch batch_;
  std::unique_ptr<QNetworks> networks_;
  int64_t iterations_ = 0, steps_each_ = 0;
  std::vector<float> values_;    // (environments, actions)
  std::vector<int32_t> chosen_;  // (environments)
  std::vector<double> earned_;   // in the episodes under way
  std::vector<int64_t> length_;
  Ended ended_;                   // since numbers() was called, as are these
  double loss_ = 0, losses_ = 0;  // their sum and number
};

}  // namespace

Algorithm entry_dqn() {
  return {.name = "dqn",
          .summary = "deep Q-learning with the lesser of two networks and a memory",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            return std::make_unique<Dqn>(options, Told("dqn", parameters(), options.arguments));
          }};
}

}  // namespace agora::agents::kind_dqn

#include "agents/ppo_ensemble.h"

#include <algorithm>

#include "agents/saved_tensors.h"
#include "base/error.h"

namespace agora::agents {
namespace {

const std::string kDistilled = "distilled.";

std::string prefix_of(size_t member) { return "member" + std::to_string(member) + "."; }

std::unique_ptr<Environment> environment_of(const AgentOptions& agent, const EnsembleOptions& how,
                                            int64_t member, int64_t count) {
  // Members differ in what they draw; the first one draws as a single learner does.
  return make_environment(agent.environment, {.levels = member_levels(agent, how, member),
                                              .count = count,
                                              .seed = member_seed(agent.seed, member),
                                              .arguments = agent.environment_arguments});
}

}  // namespace

Levels member_levels(const AgentOptions& agent, const EnsembleOptions& how, int64_t member) {
  switch (how.levels) {
    case EnsembleOptions::Levels::kBootstrap:
      return agent.levels.bootstrap(agent.seed, member);
    case EnsembleOptions::Levels::kParts:
      return agent.levels.part(member, how.members);
    case EnsembleOptions::Levels::kAll:
      break;
  }
  return agent.levels;
}

uint64_t member_seed(uint64_t seed, int64_t member) {
  return seed + 0x9E3779B97F4A7C15U * static_cast<uint64_t>(member);
}

PpoEnsemble::PpoEnsemble(const AgentOptions& agent, const EnsembleOptions& options)
    : agent_(agent), options_(options) {
  const int64_t count = std::max<int64_t>(1, agent.environments / options.members);
  const int64_t samples = options.rollout * count;
  if (samples % options.ppo.minibatches != 0) {
    throw user_error("{} environments with {} steps each cannot be cut into {} minibatches", count,
                     options.rollout, options.ppo.minibatches);
  }
  if (options.levels == EnsembleOptions::Levels::kParts && agent.levels.size() < options.members) {
    throw user_error("{} cannot be shared out among {} members", agent.levels.text(),
                     options.members);
  }
  for (int64_t m = 0; m < options.members; ++m) {
    auto environment = environment_of(agent, options, m, count);
    const Space space = environment->space();
    const bool masked = !environment->masks().empty();
    agent_.network = resolved(agent.network, space.observation);
    members_.push_back(std::make_unique<Member>(
        Player(std::move(environment), options.rollout, options.reward_discount,
               member_seed(agent.seed, m)),
        std::make_unique<PpoMember>(space, agent_.network, options.ppo, options.pull, masked, count,
                                    samples)));
    members_.back()->learner->initialise(agent.seed, m);
    if (m > 0) continue;
    others_.resize(static_cast<size_t>(samples) * space.actions);
    one_ = others_;
    if (!options.distilled) continue;
    distilled_ = std::make_unique<DistilledPolicy>(space, agent_.network, options.ppo, masked,
                                                   count, samples);
    distilled_->initialise(agent.seed, options.members);
  }
  steps_each_ = samples * options.members;
  iterations_ = std::max<int64_t>(1, (agent.steps + steps_each_ - 1) / steps_each_);
}

std::span<const float> PpoEnsemble::others_of(size_t self) {
  if (options_.pull.penalty <= 0) return {};
  if (distilled_ != nullptr) {
    distilled_->probabilities(members_[self]->player.rollout(), others_);
    return others_;
  }
  std::fill(others_.begin(), others_.end(), 0.0F);
  for (size_t m = 0; m < members_.size(); ++m) {
    if (m == self) continue;
    members_[m]->learner->probabilities(members_[self]->player.rollout(), *members_[self]->learner,
                                        one_);
    for (size_t k = 0; k < others_.size(); ++k) {
      others_[k] =
          options_.pull.link == Link::kMax ? std::max(others_[k], one_[k]) : others_[k] + one_[k];
    }
  }
  return others_;
}

// Algorithm LEEP, lines 5 to 8.
void PpoEnsemble::iterate() {
  for (size_t m = 0; m < members_.size(); ++m) {
    Player& player = members_[m]->player;
    PpoMember& learner = *members_[m]->learner;
    player.play(learner);
    estimate_advantages(player.rollout(), options_.ppo.discount, options_.ppo.lambda);
    const PpoNumbers now = learner.update(player.rollout(), others_of(m), agent_.seed,
                                          static_cast<int64_t>(m), iteration_);
    seen_.loss += now.loss;
    seen_.policy += now.policy;
    seen_.value += now.value;
    seen_.entropy += now.entropy;
    seen_.penalty += now.penalty;
    ++updates_;
  }
  if (distilled_ != nullptr) distil();
}

void PpoEnsemble::distil() {
  for (size_t m = 0; m < members_.size(); ++m) {
    const Rollout& rollout = members_[m]->player.rollout();
    members_[m]->learner->probabilities(rollout, *members_[m]->learner, one_);
    distilled_->update(rollout, one_, agent_.seed, static_cast<int64_t>(m), iteration_);
  }
}

std::vector<StoredTensor> PpoEnsemble::tensors() const {
  std::vector<StoredTensor> all;
  for (size_t m = 0; m < members_.size(); ++m) {
    for (StoredTensor& each : members_[m]->player.save(prefix_of(m) + "player.")) {
      all.push_back(std::move(each));
    }
    save_variables(members_[m]->learner->variables(), prefix_of(m), all);
  }
  if (distilled_ != nullptr) save_variables(distilled_->variables(), kDistilled, all);
  const std::vector<double> numbers{seen_.loss,    seen_.policy,  seen_.value,
                                    seen_.entropy, seen_.penalty, static_cast<double>(updates_)};
  all.push_back(StoredTensor::of<double>("numbers", {6}, numbers));
  const std::vector<int64_t> iteration{iteration_};
  all.push_back(StoredTensor::of<int64_t>("iteration", {1}, iteration));
  return all;
}

void PpoEnsemble::load(const TensorFile& saved) {
  for (size_t m = 0; m < members_.size(); ++m) {
    const std::string prefix = prefix_of(m), player = prefix + "player.";
    members_[m]->player.restore(saved, player);
    load_variables(members_[m]->learner->variables(), prefix, saved, {player});
  }
  if (distilled_ != nullptr) load_variables(distilled_->variables(), kDistilled, saved);
  const auto numbers = expect_tensor(saved, "numbers", 6).values<double>();
  seen_ = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
  updates_ = static_cast<int64_t>(numbers[5]);
  iteration_ = expect_tensor(saved, "iteration", 1).values<int64_t>()[0];
}

void PpoEnsemble::restore(const Checkpoint& checkpoint) { load(checkpoint.tensors); }

NamedNumbers PpoEnsemble::numbers() {
  Ended ended;
  for (const auto& member : members_) {
    const Ended own = member->player.ended();
    ended.episodes += own.episodes;
    ended.steps += own.steps;
    ended.returns += own.returns;
  }
  const auto episodes = static_cast<double>(std::max<int64_t>(1, ended.episodes));
  const auto updates = static_cast<double>(std::max<int64_t>(1, updates_));
  NamedNumbers all{{"steps", static_cast<double>(environment_steps())},
                   {"return", ended.returns / episodes},
                   {"length", static_cast<double>(ended.steps) / episodes},
                   {"episodes", static_cast<double>(ended.episodes)},
                   {"loss", seen_.loss / updates},
                   {"value_loss", seen_.value / updates},
                   {"entropy", seen_.entropy / updates}};
  if (options_.pull.penalty > 0) all.emplace_back("disagreement", seen_.penalty / updates);
  seen_ = {};
  updates_ = 0;
  return all;
}

std::optional<Profile> PpoEnsemble::profile() const {
  Profile all;
  for (const auto& member : members_) {
    all += member->player.profile();
    all += member->learner->profile();
  }
  return all;
}

SavedPolicy PpoEnsemble::policy() const {
  SavedPolicy saved = policy_without_members(agent_, members_[0]->player.environment().space());
  saved.link = options_.deployed;
  if (distilled_ != nullptr) {
    saved.members.push_back(stored_under(distilled_->variables(), distilled_->parameter_names()));
    return saved;
  }
  for (const auto& member : members_) {
    saved.members.push_back(
        stored_under(member->learner->variables(), member->learner->parameter_names()));
  }
  return saved;
}

}  // namespace agora::agents

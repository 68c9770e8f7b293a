#include "agents/ppo_ensemble.h"

#include <algorithm>

#include "agents/explored_environment.h"
#include "agents/saved_tensors.h"
#include "base/error.h"
#include "compute/backend.h"

namespace agora::agents {
namespace {

const std::string kDistilled = "distilled.";

std::unique_ptr<Environment> environment_of(const AgentOptions& agent, const EnsembleOptions& how,
                                            int64_t member, int64_t count) {
  // Members differ in what they draw; the first one draws as a single learner does.
  return make_environment(agent.environment, {.levels = member_levels(agent, how, member),
                                              .count = count,
                                              .seed = member_seed(agent.seed, member),
                                              .arguments = agent.environment_arguments});
}

PpoOptions explorers_ppo(const EnsembleOptions& how) {
  PpoOptions ppo = how.ppo;
  ppo.discount = how.explorer->discount;
  return ppo;
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

PpoEnsemble::Member::Member(std::string own_prefix, Player own_player,
                            std::unique_ptr<PpoMember> own_learner)
    : prefix(std::move(own_prefix)),
      learner(std::move(own_learner)),
      weights(learner->variables(), learner->variables().names()),
      player(std::move(own_player)) {}

PpoEnsemble::PpoEnsemble(const AgentOptions& agent, const EnsembleOptions& options)
    : agent_(agent), options_(options) {
  CHECK(!options.distilled || !options.explorer, "an explorer beside a distilled policy");
  const int64_t learners = options.members + (options.explorer ? 1 : 0);
  count_ = std::max<int64_t>(1, agent.environments / learners);
  const int64_t samples = options.rollout * count_;
  if (samples % options.ppo.minibatches != 0) {
    throw user_error("{} environments with {} steps each cannot be cut into {} minibatches", count_,
                     options.rollout, options.ppo.minibatches);
  }
  if (options.levels == EnsembleOptions::Levels::kParts && agent.levels.size() < options.members) {
    throw user_error("{} cannot be shared out among {} members", agent.levels.text(),
                     options.members);
  }
  for (int64_t m = 0; m < options.members; ++m) {
    members_.push_back(
        made(m, environment_of(agent, options, m, count_), options.ppo, options.pull));
    if (options.replay) {
      members_.back()->scores.emplace(member_levels(agent, options, m), *options.replay);
    }
    all_.push_back(members_.back().get());
  }
  const Environment& first = members_[0]->player.environment();
  const Space& space = first.space();
  others_.resize(static_cast<size_t>(samples) * space.actions);
  one_ = others_;
  if (options.distilled) {
    distilled_ = std::make_unique<DistilledPolicy>(space, agent_.network, options.ppo,
                                                   !first.masks().empty(), count_, samples);
    distilled_->initialise(agent.seed, options.members);
    distilled_before_.emplace(distilled_->variables(), distilled_->variables().names());
  }
  if (options.explorer) {
    const int64_t index = options.members;
    EnsembleOptions all_levels = options;
    all_levels.levels = EnsembleOptions::Levels::kAll;
    explorer_ = made(index,
                     for_explorer(environment_of(agent, all_levels, index, count_),
                                  options.explorer->neighbours),
                     explorers_ppo(options), {});
    all_.push_back(explorer_.get());
  }
  steps_each_ = samples * learners;
  iterations_ = std::max<int64_t>(1, (agent.steps + steps_each_ - 1) / steps_each_);
}

std::unique_ptr<PpoEnsemble::Member> PpoEnsemble::made(int64_t index,
                                                       std::unique_ptr<Environment> environment,
                                                       const PpoOptions& ppo, const Pull& pull) {
  const Space space = environment->space();
  const bool masked = !environment->masks().empty(), explores = index == options_.members;
  agent_.network = resolved(agent_.network, space.observation);
  if (ppo.invariance && !space.observation.is_picture()) {
    throw user_error("{} shows no pictures, which alone can be moved", agent_.environment);
  }
  auto member =
      std::make_unique<Member>(explores ? "explorer." : "member" + std::to_string(index) + ".",
                               Player(std::move(environment), options_.rollout,
                                      options_.reward_discount, member_seed(agent_.seed, index)),
                               std::make_unique<PpoMember>(space, agent_.network, ppo, pull, masked,
                                                           count_, options_.rollout * count_));
  member->learner->initialise(agent_.seed, index);
  const int64_t learners = options_.members + (options_.explorer ? 1 : 0);
  if (options_.plays_ahead && learners > 1 && member->learner->overlaps()) {
    const auto share = default_pool().threads() / static_cast<int>(learners);
    const auto& device = compute::backend(member->learner->variables().device());
    member->threads = std::make_unique<ThreadPool>(std::max(1, share));
    if (device.make_lane != nullptr) member->lane = device.make_lane();
  }
  return member;
}

std::span<const float> PpoEnsemble::others_of(size_t self) {
  if (options_.pull.penalty <= 0) return {};
  if (distilled_ != nullptr) {
    distilled_->probabilities(members_[self]->player.rollout(), others_);
    return others_;
  }
  const Stopwatch watch(profile_.inference);
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

void PpoEnsemble::begin(Member& member) {
  member.player.begin(*member.learner, *member.threads, member.lane.get());
}

void PpoEnsemble::begin_next(Member& member) {
  if (member.threads != nullptr && iteration_ + 1 < iterations_) begin(member);
}

void PpoEnsemble::play(Member& member) {
  std::optional<Stopwatch> watch;
  if (member.threads != nullptr) watch.emplace(profile_.waiting);
  member.player.play(*member.learner);
}

// Algorithm LEEP, lines 5 to 8.
void PpoEnsemble::iterate() {
  const bool ahead = members_[0]->threads != nullptr;
  std::optional<UsePool> alone;
  if (ahead) alone.emplace(alone_);
  for (Member* const member : all_) {
    if (ahead && !member->player.is_playing()) begin(*member);
  }
  for (size_t m = 0; m < members_.size(); ++m) {
    Member& member = *members_[m];
    play(member);
    learn(m);
    // Who is drawn to a distilled policy has to wait for it.
    if (distilled_ == nullptr) begin_next(member);
  }
  if (explorer_ != nullptr) explore();
  if (distilled_ == nullptr) return;
  distil();
  for (const auto& member : members_) begin_next(*member);
}

void PpoEnsemble::learn(size_t self) {
  Member& member = *members_[self];
  Rollout& rollout = member.player.rollout();
  estimate_advantages(rollout, options_.ppo.discount, options_.ppo.lambda);
  if (member.scores) {
    member.scores->note(rollout);
    member.player.environment().prefer(member.scores->chances());
  }
  const PpoNumbers now = member.learner->update(rollout, others_of(self), agent_.seed,
                                                static_cast<int64_t>(self), iteration_);
  numbers_.seen.loss += now.loss;
  numbers_.seen.policy += now.policy;
  numbers_.seen.value += now.value;
  numbers_.seen.entropy += now.entropy;
  numbers_.seen.penalty += now.penalty;
  numbers_.seen.difference += now.difference;
  ++numbers_.updates;
}

// It learns as if it were alone.
void PpoEnsemble::explore() {
  play(*explorer_);
  Rollout& rollout = explorer_->player.rollout();
  const PpoOptions ppo = explorers_ppo(options_);
  estimate_advantages(rollout, ppo.discount, ppo.lambda);
  explorer_->learner->update(rollout, {}, agent_.seed, options_.members, iteration_);
  begin_next(*explorer_);
}

void PpoEnsemble::remember() {
  for (Member* const member : all_) {
    member->weights.take();
    member->played = member->player.state();
    member->scores_before = member->scores;
  }
  if (distilled_before_) distilled_before_->take();
  numbers_before_ = numbers_;
}

void PpoEnsemble::go_back() {
  for (Member* const member : all_) {
    member->player.restore(member->played);
    member->weights.restore();
    member->scores = member->scores_before;
  }
  if (distilled_before_) distilled_before_->restore();
  numbers_ = numbers_before_;
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
  for (const Member* const member : all_) {
    for (StoredTensor& each : member->player.save(member->prefix + "player.")) {
      all.push_back(std::move(each));
    }
    if (member->scores) {
      for (StoredTensor& each : member->scores->save(member->prefix + "levels.")) {
        all.push_back(std::move(each));
      }
    }
    save_variables(member->learner->variables(), member->prefix, all);
  }
  if (distilled_ != nullptr) save_variables(distilled_->variables(), kDistilled, all);
  const PpoNumbers& seen = numbers_.seen;
  std::vector<double> numbers{seen.loss,    seen.policy,  seen.value,
                              seen.entropy, seen.penalty, static_cast<double>(numbers_.updates)};
  if (options_.ppo.invariance) numbers.push_back(seen.difference);
  all.push_back(StoredTensor::of<double>("numbers", {std::ssize(numbers)}, numbers));
  const std::vector<int64_t> iteration{iteration_};
  all.push_back(StoredTensor::of<int64_t>("iteration", {1}, iteration));
  return all;
}

void PpoEnsemble::load(const TensorFile& saved) {
  for (Member* const member : all_) {
    const std::string player = member->prefix + "player.", levels = member->prefix + "levels.";
    member->player.restore(saved, player);
    if (member->scores) member->scores->restore(saved, levels);
    load_variables(member->learner->variables(), member->prefix, saved, {player, levels});
  }
  if (distilled_ != nullptr) load_variables(distilled_->variables(), kDistilled, saved);
  const bool moves = options_.ppo.invariance.has_value();
  const auto numbers = expect_tensor(saved, "numbers", moves ? 7 : 6).values<double>();
  numbers_ = {{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], moves ? numbers[6] : 0},
              static_cast<int64_t>(numbers[5])};
  iteration_ = expect_tensor(saved, "iteration", 1).values<int64_t>()[0];
}

void PpoEnsemble::restore(const Checkpoint& checkpoint) { load(checkpoint.tensors); }

NamedNumbers PpoEnsemble::numbers() {
  Ended ended;
  for (const auto& member : members_) ended += member->player.ended();
  const auto episodes = static_cast<double>(std::max<int64_t>(1, ended.episodes));
  const auto [seen, count] = std::exchange(numbers_, {});
  const auto updates = static_cast<double>(std::max<int64_t>(1, count));
  NamedNumbers all{{"steps", static_cast<double>(environment_steps())},
                   {"return", ended.returns / episodes},
                   {"length", static_cast<double>(ended.steps) / episodes},
                   {"episodes", static_cast<double>(ended.episodes)},
                   {"loss", seen.loss / updates},
                   {"value_loss", seen.value / updates},
                   {"entropy", seen.entropy / updates}};
  if (options_.pull.penalty > 0) all.emplace_back("disagreement", seen.penalty / updates);
  if (options_.ppo.invariance) all.emplace_back("difference", seen.difference / updates);
  if (explorer_ != nullptr) {
    const Ended explored = explorer_->player.ended();
    const auto steps = static_cast<double>(std::max<int64_t>(1, explored.steps));
    all.emplace_back("novelty", explored.returns / steps);
  }
  return all;
}

std::optional<Profile> PpoEnsemble::profile() const {
  Profile all = profile_;
  for (const Member* const member : all_) {
    Profile played = member->player.profile();
    played += member->learner->profile();
    if (member->threads != nullptr) {
      all.overlapped += played.environment + played.upload + played.inference;
    }
    all += played;
  }
  return all;
}

SavedPolicy PpoEnsemble::policy() const {
  SavedPolicy saved = policy_without_members(agent_, members_[0]->player.environment().space());
  saved.link = options_.deployed;
  saved.memory = options_.memory;
  if (distilled_ != nullptr) {
    saved.members.push_back(stored_under(distilled_->variables(), distilled_->parameter_names()));
    return saved;
  }
  for (const auto& member : members_) {
    saved.members.push_back(
        stored_under(member->learner->variables(), member->learner->policy_names()));
  }
  if (explorer_ != nullptr) {
    saved.explorer =
        stored_under(explorer_->learner->variables(), explorer_->learner->policy_names());
    saved.exploration = options_.explorer->deployed;
  }
  return saved;
}

}  // namespace agora::agents

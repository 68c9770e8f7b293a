#include "agents/rollout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "agents/saved_tensors.h"
#include "agents/streams.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "nn/categorical.h"

namespace agora::agents {
namespace {

constexpr float kMostReward = 10;
constexpr double kLeastVariance = 1e-8;

template <typename T>
std::vector<T> values_of(const TensorFile& saved, const std::string& name, size_t size) {
  return expect_tensor(saved, name, size).values<T>();
}

template <typename T>
StoredTensor stored(const std::string& name, const std::vector<T>& values) {
  return StoredTensor::of<T>(name, {static_cast<int64_t>(values.size())}, values);
}

constexpr int64_t kLeastHalf = 16;     // environments for which thinking twice is worth it
constexpr int64_t kCopied = 64 << 10;  // bytes that one thread copies at once

void copy_by_all(std::span<const std::byte> from, std::byte* to) {
  const auto bytes = static_cast<int64_t>(from.size());
  const int64_t parts = (bytes + kCopied - 1) / kCopied;
  default_pool().run(parts, [&](int64_t part) {
    const Range range = part_range(bytes, part, parts);
    std::memcpy(to + range.begin, from.data() + range.begin,
                static_cast<size_t>(range.end - range.begin));
  });
}

}  // namespace

void forbid(std::span<const uint8_t> mask, std::span<float> logits) {
  for (size_t k = 0; k < mask.size(); ++k) {
    if (mask[k] == 0) logits[k] += kForbidden;
  }
}

RewardScale::RewardScale(int64_t environments, double discount)
    : discount_(discount), returns_(static_cast<size_t>(environments)) {}

void RewardScale::apply(std::span<float> rewards, std::span<const End> ends) {
  const auto n = static_cast<double>(rewards.size());
  double mean = 0, square = 0;
  for (size_t e = 0; e < rewards.size(); ++e) {
    returns_[e] = discount_ * returns_[e] + rewards[e];
    mean += returns_[e] / n;
  }
  for (const double value : returns_) square += (value - mean) * (value - mean) / n;
  // Chan's update of a mean and a variance by those of a batch.
  const double total = count_ + n, delta = mean - mean_;
  variance_ = (variance_ * count_ + square * n + delta * delta * count_ * n / total) / total;
  mean_ += delta * n / total;
  count_ = total;
  const auto factor = static_cast<float>(1.0 / std::sqrt(variance_ + kLeastVariance));
  for (size_t e = 0; e < rewards.size(); ++e) {
    rewards[e] = std::clamp(rewards[e] * factor, -kMostReward, kMostReward);
    if (ends[e] != End::kNone) returns_[e] = 0;
  }
}

std::vector<StoredTensor> RewardScale::save(const std::string& prefix) const {
  std::vector<double> all = returns_;
  all.insert(all.end(), {mean_, variance_, count_});
  return {stored(prefix + "scale", all)};
}

void RewardScale::restore(const TensorFile& saved, const std::string& prefix) {
  const auto all = values_of<double>(saved, prefix + "scale", returns_.size() + 3);
  std::copy_n(all.begin(), returns_.size(), returns_.begin());
  mean_ = all[returns_.size()];
  variance_ = all[returns_.size() + 1];
  count_ = all[returns_.size() + 2];
}

void estimate_advantages(Rollout& rollout, double discount, double lambda) {
  const auto n = static_cast<size_t>(rollout.count);
  std::vector<double> next(rollout.last_values.begin(), rollout.last_values.end()), sum(n);
  for (int64_t t = rollout.steps - 1; t >= 0; --t) {
    for (size_t e = 0; e < n; ++e) {
      const size_t k = static_cast<size_t>(t) * n + e;
      const bool goes_on = rollout.ends[k] == End::kNone;
      const double after = goes_on ? next[e] : rollout.after[k];
      const double delta = rollout.rewards[k] + discount * after - rollout.values[k];
      sum[e] = delta + (goes_on ? discount * lambda * sum[e] : 0.0);
      next[e] = rollout.values[k];
      rollout.advantages[k] = static_cast<float>(sum[e]);
      rollout.returns[k] = static_cast<float>(sum[e] + rollout.values[k]);
    }
  }
}

Player::Player(std::unique_ptr<Environment> environment, int64_t steps, double discount,
               uint64_t seed, bool scales_rewards)
    : environment_(std::move(environment)),
      seed_(seed),
      scales_(scales_rewards),
      scale_(environment_->count(), discount) {
  const int64_t count = environment_->count(), samples = steps * count;
  const auto rows = static_cast<size_t>(samples);
  rollout_.steps = steps;
  rollout_.count = count;
  rollout_.observations.resize(rows * environment_->space().observation.bytes());
  rollout_.actions.resize(rows);
  rollout_.levels.resize(rows);
  if (!environment_->masks().empty()) {
    rollout_.masks.resize(rows * static_cast<size_t>(environment_->space().actions));
  }
  for (auto* each : {&rollout_.log_probs, &rollout_.values, &rollout_.rewards, &rollout_.after,
                     &rollout_.advantages, &rollout_.returns}) {
    each->resize(rows);
  }
  rollout_.ends.resize(rows);
  rollout_.last_values.resize(count);
  earned_.resize(count);
  length_.resize(count);
  logits_.resize(count * environment_->space().actions);
  after_.resize(count);
}

const Rollout& Player::play(Actor& actor) {
  if (ahead_.valid()) {
    ahead_.get();
  } else {
    play_on(actor);
  }
  before_.reset();
  ended_ += std::exchange(ended_ahead_, {});
  return rollout_;
}

void Player::begin(Actor& actor, ThreadPool& threads, compute::Lane* lane) {
  CHECK(!ahead_.valid(), "a rollout is being played");
  std::promise<TensorFile> before;
  before_ = before.get_future().share();
  ahead_ = std::async(std::launch::async,
                      [this, &actor, &threads, lane, before = std::move(before)]() mutable {
                        const UsePool own_threads(threads);
                        before.set_value(tensors());
                        const compute::InLane own_lane(lane);
                        play_on(actor);
                      });
}

void Player::play_on(Actor& actor) {
  const int64_t n = rollout_.count, steps = rollout_.steps;
  const bool halves = actor.overlaps() && environment_->has_parts() && n >= 2 * kLeastHalf;
  const int64_t groups = halves ? 2 : 1;
  actor.begins(rollout_);
  start(actor, 0, part_range(n, 0, groups));
  for (int64_t t = 0; t < steps; ++t, ++step_) {
    for (int64_t g = 0; g < groups; ++g) {
      const Range own = part_range(n, g, groups);
      choose(actor, t, own);
      // While these step, the actor thinks about the next ones.
      const Range next = part_range(n, (g + 1) % groups, groups);
      const int64_t after = g + 1 < groups ? t : t + 1;  // the step of those
      if (groups == 1) step(t, own);
      if (after > 0) settle(actor, after - 1, next);
      if (after < steps) start(actor, after, next);
      if (groups > 1) step(t, own);
    }
  }
  if (groups > 1) settle(actor, steps - 1, part_range(n, groups - 1, groups));
  actor.value(environment_->observations(), n, rollout_.last_values);
}

void Player::start(Actor& actor, int64_t t, Range which) {
  const auto bytes = environment_->space().observation.bytes();
  const auto seen =
      environment_->observations().subspan(static_cast<size_t>(which.begin * bytes),
                                           static_cast<size_t>((which.end - which.begin) * bytes));
  std::byte* const kept = rollout_.observations.data() + (t * rollout_.count + which.begin) * bytes;
  copy_by_all(seen, kept);
  const auto played = environment_->levels();
  std::copy(played.begin() + which.begin, played.begin() + which.end,
            rollout_.levels.begin() + t * rollout_.count + which.begin);
  actor.start({kept, seen.size()}, which.end - which.begin);
}

void Player::choose(Actor& actor, int64_t t, Range which) {
  Environment& env = *environment_;
  const auto actions = static_cast<size_t>(env.space().actions);
  const auto first = static_cast<size_t>(which.begin);
  const auto count = static_cast<size_t>(which.end - which.begin);
  const size_t at = static_cast<size_t>(t * rollout_.count) + first;
  const auto logits = std::span(logits_).first(count * actions);
  actor.finish(logits, std::span(rollout_.values).subspan(at, count));
  if (!env.masks().empty()) {
    const auto mask = env.masks().subspan(first * actions, count * actions);
    std::copy(mask.begin(), mask.end(),
              rollout_.masks.begin() + static_cast<int64_t>(at * actions));
    forbid(mask, logits);
  }
  for (size_t e = 0; e < count; ++e) {
    const auto row = std::span<const float>(logits).subspan(e * actions, actions);
    Rng rng(seed_, stream(Stream::kActions), static_cast<uint32_t>(step_),
            static_cast<uint32_t>(first + e));
    const int32_t action = nn::sample_categorical(row, rng);
    rollout_.actions[at + e] = action;
    const float largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit - largest));
    rollout_.log_probs[at + e] =
        row[static_cast<size_t>(action)] - largest - static_cast<float>(std::log(sum));
  }
}

void Player::step(int64_t t, Range which) {
  const Stopwatch watch(profile_.environment);
  environment_->step_part(std::span<const int32_t>(rollout_.actions)
                              .subspan(static_cast<size_t>(t * rollout_.count + which.begin),
                                       static_cast<size_t>(which.end - which.begin)),
                          which.begin);
}

void Player::settle(Actor& actor, int64_t t, Range which) {
  const Environment& env = *environment_;
  const auto at = static_cast<size_t>(t * rollout_.count);
  bool any_cut = false;
  for (auto e = static_cast<size_t>(which.begin); e < static_cast<size_t>(which.end); ++e) {
    rollout_.rewards[at + e] = env.rewards()[e];
    rollout_.ends[at + e] = env.ends()[e];
    rollout_.after[at + e] = 0;
    earned_[e] += env.rewards()[e];
    ++length_[e];
    any_cut = any_cut || env.ends()[e] == End::kCutOff;
    if (env.ends()[e] == End::kNone) continue;
    ++ended_ahead_.episodes;
    ended_ahead_.returns += std::exchange(earned_[e], 0.0);
    ended_ahead_.steps += std::exchange(length_[e], 0);
  }
  if (any_cut) {
    const int64_t bytes = env.space().observation.bytes(), count = which.end - which.begin;
    actor.value(env.last_observations().subspan(static_cast<size_t>(which.begin * bytes),
                                                static_cast<size_t>(count * bytes)),
                count, std::span(after_).first(static_cast<size_t>(count)));
    for (int64_t e = which.begin; e < which.end; ++e) {
      const size_t k = at + static_cast<size_t>(e);
      if (rollout_.ends[k] == End::kCutOff) {
        rollout_.after[k] = after_[static_cast<size_t>(e - which.begin)];
      }
    }
  }
  if (which.end < rollout_.count) return;  // the others of the step come later
  const auto n = static_cast<size_t>(rollout_.count);
  const auto ends = std::span<const End>(rollout_.ends).subspan(at, n);
  if (scales_) scale_.apply(std::span(rollout_.rewards).subspan(at, n), ends);
  actor.ended(ends);
}

Ended Player::ended() { return std::exchange(ended_, {}); }

TensorFile Player::tensors() const {
  TensorFile all;
  all.tensors = environment_->save("environment.");
  for (StoredTensor& each : scale_.save("")) all.tensors.push_back(std::move(each));
  all.tensors.push_back(stored("earned", earned_));
  all.tensors.push_back(stored("length", length_));
  all.tensors.push_back(stored("step", std::vector<int64_t>{step_}));
  return all;
}

std::vector<StoredTensor> Player::save(const std::string& prefix) const {
  std::vector<StoredTensor> all = before_ ? before_->get().tensors : tensors().tensors;
  all.push_back(
      stored("ended", std::vector<double>{static_cast<double>(ended_.episodes),
                                          static_cast<double>(ended_.steps), ended_.returns}));
  for (StoredTensor& each : all) each.name = prefix + each.name;
  return all;
}

void Player::restore(const TensorFile& saved, const std::string& prefix) {
  const auto ended = values_of<double>(saved, prefix + "ended", 3);
  load(saved, prefix);
  ended_ = {static_cast<int64_t>(ended[0]), static_cast<int64_t>(ended[1]), ended[2]};
}

Player::State Player::state() const {
  if (before_) return {*before_, ended_};
  std::promise<TensorFile> now;
  now.set_value(tensors());
  return {now.get_future().share(), ended_};
}

void Player::restore(const State& state) {
  load(state.tensors.get(), "");
  ended_ = state.ended;
}

void Player::load(const TensorFile& saved, const std::string& prefix) {
  if (ahead_.valid()) ahead_.wait();
  ahead_ = {};
  before_.reset();
  ended_ahead_ = {};
  environment_->restore(saved, prefix + "environment.");
  scale_.restore(saved, prefix);
  earned_ = values_of<double>(saved, prefix + "earned", earned_.size());
  length_ = values_of<int64_t>(saved, prefix + "length", length_.size());
  step_ = values_of<int64_t>(saved, prefix + "step", 1)[0];
}

}  // namespace agora::agents

#include "agents/rollout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "agents/saved_tensors.h"
#include "agents/streams.h"
#include "base/error.h"
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
  Environment& env = *environment_;
  const int64_t n = rollout_.count;
  const auto actions = static_cast<size_t>(env.space().actions);
  const std::span<const std::byte> seen = env.observations();
  for (int64_t t = 0; t < rollout_.steps; ++t, ++step_) {
    const auto at = static_cast<size_t>(t * n);
    std::memcpy(rollout_.observations.data() + static_cast<size_t>(t) * seen.size(), seen.data(),
                seen.size());
    actor.act(seen, n, logits_, std::span(rollout_.values).subspan(at, n));
    std::copy(
        env.masks().begin(), env.masks().end(),
        rollout_.masks.begin() + static_cast<int64_t>(static_cast<size_t>(t) * env.masks().size()));
    forbid(env.masks(), logits_);
    for (int64_t e = 0; e < n; ++e) {
      const auto row = std::span<const float>(logits_).subspan(e * actions, actions);
      Rng rng(seed_, stream(Stream::kActions), static_cast<uint32_t>(step_),
              static_cast<uint32_t>(e));
      const int32_t action = nn::sample_categorical(row, rng);
      rollout_.actions[at + e] = action;
      const float largest = *std::max_element(row.begin(), row.end());
      double sum = 0;
      for (const float logit : row) sum += std::exp(static_cast<double>(logit - largest));
      rollout_.log_probs[at + e] =
          row[static_cast<size_t>(action)] - largest - static_cast<float>(std::log(sum));
    }
    env.step(std::span<const int32_t>(rollout_.actions).subspan(at, n));
    const auto rewards = std::span(rollout_.rewards).subspan(at, n);
    std::copy(env.rewards().begin(), env.rewards().end(), rewards.begin());
    std::copy(env.ends().begin(), env.ends().end(), rollout_.ends.begin() + t * n);
    bool any_cut = false;
    for (int64_t e = 0; e < n; ++e) {
      earned_[e] += rewards[e];
      ++length_[e];
      rollout_.after[at + e] = 0;
      any_cut = any_cut || env.ends()[e] == End::kCutOff;
      if (env.ends()[e] == End::kNone) continue;
      ++ended_.episodes;
      ended_.returns += std::exchange(earned_[e], 0.0);
      ended_.steps += std::exchange(length_[e], 0);
    }
    if (any_cut) {
      actor.value(env.last_observations(), n, after_);
      for (int64_t e = 0; e < n; ++e) {
        if (env.ends()[e] == End::kCutOff) rollout_.after[at + e] = after_[e];
      }
    }
    if (scales_) scale_.apply(rewards, env.ends());
    actor.ended(env.ends());
  }
  actor.value(seen, n, rollout_.last_values);
  return rollout_;
}

Ended Player::ended() { return std::exchange(ended_, {}); }

std::vector<StoredTensor> Player::save(const std::string& prefix) const {
  std::vector<StoredTensor> all = environment_->save(prefix + "environment.");
  for (StoredTensor& each : scale_.save(prefix)) all.push_back(std::move(each));
  all.push_back(stored(prefix + "earned", earned_));
  all.push_back(stored(prefix + "length", length_));
  all.push_back(stored(prefix + "ended",
                       std::vector<double>{static_cast<double>(ended_.episodes),
                                           static_cast<double>(ended_.steps), ended_.returns}));
  all.push_back(stored(prefix + "step", std::vector<int64_t>{step_}));
  return all;
}

void Player::restore(const TensorFile& saved, const std::string& prefix) {
  environment_->restore(saved, prefix + "environment.");
  scale_.restore(saved, prefix);
  earned_ = values_of<double>(saved, prefix + "earned", earned_.size());
  length_ = values_of<int64_t>(saved, prefix + "length", length_.size());
  const auto ended = values_of<double>(saved, prefix + "ended", 3);
  ended_ = {static_cast<int64_t>(ended[0]), static_cast<int64_t>(ended[1]), ended[2]};
  step_ = values_of<int64_t>(saved, prefix + "step", 1)[0];
}

}  // namespace agora::agents

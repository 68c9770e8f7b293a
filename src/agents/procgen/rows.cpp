#include "agents/procgen/rows.h"

#include <algorithm>
#include <cstring>

#include "agents/procgen/state.h"
#include "agents/worlds.h"
#include "base/hash.h"

namespace agora::agents::procgen {
namespace {

constexpr int64_t kMostParts = 256;
constexpr int64_t kMostStateBytes = int64_t{1} << 20;

// A damaged state would end the program, so it is told apart before the library sees it.
int64_t sum_of(std::string_view state) {
  return static_cast<int64_t>(std::stoull(Hash().add(state).hex(), nullptr, 16));
}

}  // namespace

Rows::Rows(Settings settings, Space space, const EnvironmentOptions& options)
    : settings_(std::move(settings)),
      space_(std::move(space)),
      options_(options),
      parts_(std::min(options.count, kMostParts)) {
  const auto n = static_cast<size_t>(options.count);
  for (auto* each : {&episodes_, &steps_, &levels_}) each->resize(n);
  ended_levels_.resize(n, -1);
  observations_.resize(n * kObservation);
  last_observations_.resize(n * kObservation);
  rewards_.resize(n);
  ends_.resize(n);
  std::string state;
  for (size_t i = 0; i < n; ++i) {
    Games& game = *games_.emplace_back(std::make_unique<Games>(settings_, view(i)));
    game.get_state(state);
    if (i == 0) {
      const auto head = StateHead::of(state);
      CHECK(head.has_value(), "a state of {} bytes", state.size());
      limit_ = head->limit;
      told_ = head->settings;
    }
    plan(i, state, 0);
    begin_anew(i);
    note_level(i);
  }
}

std::span<std::byte> Rows::view(size_t i) {
  return std::span(observations_).subspan(i * kObservation, kObservation);
}

int64_t Rows::level_of(size_t i, int64_t episode) const {
  return options_.levels.draw(options_.seed, static_cast<int64_t>(i), episode);
}

void Rows::plan(size_t i, std::string& state, int64_t next) {
  plan_levels(state, next, [&](int64_t episode) { return level_of(i, episode); });
  lift_limit(state);
  games_[i]->set_state(state);
}

// The library has drawn nothing ahead: only its table of levels to come is another.
void Rows::prefer(std::span<const double> chances) {
  options_.levels.prefer(chances);
  each({0, count()}, [&](size_t i) {
    std::string state;
    games_[i]->get_state(state);
    plan(i, state, episodes_[i] + 1);
  });
}

void Rows::begin_anew(size_t i) {
  const int32_t action = kBeginAnew;
  games_[i]->step({&action, 1});
}

void Rows::note_level(size_t i) {
  levels_[i] = games_[i]->level();
  DCHECK(levels_[i] == level_of(i, episodes_[i]), "level {}", levels_[i]);
}

template <typename Body>
void Rows::each(Range which, Body&& body) const {
  const int64_t total = which.end - which.begin, parts = std::min(total, parts_);
  default_pool().run(parts, [&](int64_t part) {
    const Range range = part_range(total, part, parts);
    for (int64_t i = range.begin; i < range.end; ++i) body(static_cast<size_t>(which.begin + i));
  });
}

void Rows::step(std::span<const int32_t> actions) {
  CHECK(actions.size() == games_.size(), "{} actions for {}", actions.size(), games_.size());
  step_part(actions, 0);
}

void Rows::step_part(std::span<const int32_t> actions, int64_t first) {
  const auto from = static_cast<size_t>(first);
  each({first, first + std::ssize(actions)}, [&](size_t i) { step_one(i, actions[i - from]); });
}

void Rows::step_one(size_t i, int32_t action) {
  DCHECK(action >= 0 && action < kActions, "action {}", action);
  Games& game = *games_[i];
  if (i + 1 < games_.size()) games_[i + 1]->prefetch();
  game.step({&action, 1});
  rewards_[i] = game.reward();
  ends_[i] = End::kNone;
  ++steps_[i];
  if (game.ended()) {
    ends_[i] = End::kTerminated;
  } else if (steps_[i] >= limit_) {
    ends_[i] = End::kCutOff;
    std::memcpy(last_observations_.data() + i * kObservation, view(i).data(), kObservation);
  } else {
    return;
  }
  ended_levels_[i] = levels_[i];
  ++episodes_[i];
  steps_[i] = 0;
  if (ends_[i] == End::kCutOff) begin_anew(i);
  note_level(i);
  if ((episodes_[i] + 1) % kPlanned == 0) {
    std::string state;
    game.get_state(state);
    plan(i, state, episodes_[i] + 1);
  }
}

std::vector<StoredTensor> Rows::save(const std::string& prefix) const {
  using worlds::as_bytes, worlds::tensor;
  const int64_t n = count();
  std::vector<int64_t> sizes(games_.size()), sums(games_.size());
  std::vector<std::string> all(games_.size());
  each({0, count()}, [&](size_t i) {
    games_[i]->get_state(all[i]);
    sizes[i] = static_cast<int64_t>(all[i].size());
    sums[i] = sum_of(all[i]);
  });
  std::vector<uint8_t> states;
  for (const std::string& state : all) states.insert(states.end(), state.begin(), state.end());
  const auto total = static_cast<int64_t>(states.size());
  std::vector<StoredTensor> saved{
      tensor(prefix + "episodes", {n}, episodes_),
      tensor(prefix + "steps", {n}, steps_),
      tensor(prefix + "levels", {n}, levels_),
      tensor(prefix + "rewards", {n}, rewards_),
      StoredTensor::of<uint8_t>(prefix + "ends", {n}, as_bytes(ends_)),
      tensor(prefix + "ended_levels", {n}, ended_levels_),
      StoredTensor::of<uint8_t>(prefix + "last_observations", {n, kObservation},
                                as_bytes(last_observations_)),
      tensor(prefix + "state_sizes", {n}, sizes),
      tensor(prefix + "state_sums", {n}, sums),
      tensor(prefix + "states", {total}, states)};
  worlds::save_chances(options_.levels, prefix, saved);
  return saved;
}

void Rows::restore(const TensorFile& saved, const std::string& prefix) {
  using worlds::impossible, worlds::stored;
  const int64_t n = count();
  const auto episodes = stored<int64_t>(saved, prefix + "episodes", {n});
  const auto steps = stored<int64_t>(saved, prefix + "steps", {n});
  const auto levels = stored<int64_t>(saved, prefix + "levels", {n});
  const auto rewards = stored<float>(saved, prefix + "rewards", {n});
  const auto ends = stored<uint8_t>(saved, prefix + "ends", {n});
  const auto ended_levels = stored<int64_t>(saved, prefix + "ended_levels", {n});
  const auto last = stored<uint8_t>(saved, prefix + "last_observations", {n, kObservation});
  const auto sizes = stored<int64_t>(saved, prefix + "state_sizes", {n});
  const auto sums = stored<int64_t>(saved, prefix + "state_sums", {n});
  const auto chances = worlds::stored_chances(saved, prefix, options_.levels);
  int64_t total = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > kMostStateBytes) throw impossible(saved, prefix + "state_sizes");
    total += size;
  }
  const auto bytes = stored<uint8_t>(saved, prefix + "states", {total});

  std::vector<std::string> states;
  auto from = bytes.begin();
  for (size_t i = 0; i < games_.size(); ++i) {
    const std::string& state = states.emplace_back(from, from + sizes[i]);
    from += sizes[i];
    const auto head = StateHead::of(state);
    if (sum_of(state) != sums[i] || !head || head->game != settings_.game ||
        head->settings != told_ || head->level != levels[i] || ended_levels[i] < -1 ||
        ended_levels[i] >= Levels::kAll || episodes[i] < 0 || ends[i] > 2 || steps[i] < 0 ||
        steps[i] >= limit_) {
      throw impossible(saved, prefix);
    }
  }
  options_.levels.prefer(chances);
  episodes_ = episodes;
  steps_ = steps;
  each({0, count()}, [&](size_t i) { plan(i, states[i], episodes[i] + 1); });
  // In place: whoever looks at these goes on looking there.
  std::copy(levels.begin(), levels.end(), levels_.begin());
  std::copy(rewards.begin(), rewards.end(), rewards_.begin());
  std::memcpy(ends_.data(), ends.data(), ends.size());
  std::copy(ended_levels.begin(), ended_levels.end(), ended_levels_.begin());
  std::memcpy(last_observations_.data(), last.data(), last.size());
}

Environment::Picture Rows::picture(int64_t environment) const {
  const auto* const seen = reinterpret_cast<const uint8_t*>(observations_.data());
  const uint8_t* const own = seen + environment * kObservation;
  return {kSide, kSide, std::vector<uint8_t>(own, own + kObservation)};
}

}  // namespace agora::agents::procgen

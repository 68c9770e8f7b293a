#pragma once
#include <algorithm>
#include <concepts>
#include <cstring>
#include <type_traits>
#include <utility>

#include "agents/environment.h"
#include "agents/streams.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/thread_pool.h"

namespace agora::agents {

struct Outcome {
  float reward = 0;
  End end = End::kNone;
};

// The rules of one kind of environment, and nothing that changes. A Level is what a level's number
// alone says, a State what changes in an episode: plain bytes without gaps, so that they can be
// saved.
template <typename W>
concept World = std::has_unique_object_representations_v<typename W::State> &&
    std::default_initializable<typename W::Level> &&
    requires(const W& world, typename W::Level& level, const typename W::Level& made,
             typename W::State& state, const typename W::State& seen, int64_t number,
             int32_t action, Rng& rng, std::byte* bytes) {
  { world.space() } -> std::same_as<const Space&>;
  { world.limit() } -> std::same_as<int32_t>;        // of an episode's steps
  { world.nanoseconds() } -> std::same_as<int64_t>;  // that a step takes, about
  {world.make(number, level)};
  {world.begin(made, state, rng)};
  { world.step(made, state, action, rng) } -> std::same_as<Outcome>;
  {world.observe(made, seen, bytes)};                    // writes all of it
  { world.possible(made, seen) } -> std::same_as<bool>;  // for bytes that were in a file
  { world.picture(made, seen) } -> std::same_as<Environment::Picture>;
};

// Where a step changes little of what is seen: `bytes` hold what was seen before it.
template <typename W>
concept UpdatesView = World<W> && requires(const W& world, const typename W::Level& level,
                                           const typename W::State& state, std::byte* bytes) {
  world.update(level, state, bytes);
};

// Where not everything may be done: (actions) of 1 or 0.
template <typename W>
concept HasMask = World<W> && requires(const W& world, const typename W::Level& level,
                                       const typename W::State& state, uint8_t* mask) {
  world.mask(level, state, mask);
};

// Many of one world. Each is a function of the seed, its number and its actions, so that the parts
// into which they are shared among threads do not matter.
template <World W>
class Worlds final : public Environment {
 public:
  Worlds(W world, const EnvironmentOptions& options)
      : world_(std::move(world)),
        options_(options),
        bytes_(static_cast<size_t>(world_.space().observation.bytes())),
        actions_(static_cast<size_t>(world_.space().actions)),
        slots_(static_cast<size_t>(options.count)),
        levels_(slots_.size()),
        observations_(slots_.size() * bytes_),
        last_observations_(slots_.size() * bytes_),
        rewards_(slots_.size()),
        ends_(slots_.size()),
        ended_levels_(slots_.size(), -1) {
    if constexpr (HasMask<W>) masks_.resize(slots_.size() * actions_);
    // A part that is shorter than this is not worth another thread.
    constexpr int64_t kPartNanoseconds = 20'000;
    parts_ = std::clamp<int64_t>(options.count * world_.nanoseconds() / kPartNanoseconds, 1,
                                 std::min<int64_t>(options.count, 256));
    each([this](size_t i) {
      Rng rng = rng_of(i);
      begin_episode(i, rng);
    });
  }

  int64_t count() const override { return options_.count; }
  const Space& space() const override { return world_.space(); }
  std::span<const std::byte> observations() const override { return observations_; }
  std::span<const float> rewards() const override { return rewards_; }
  std::span<const End> ends() const override { return ends_; }
  std::span<const int64_t> ended_levels() const override { return ended_levels_; }
  std::span<const std::byte> last_observations() const override { return last_observations_; }
  std::span<const int64_t> levels() const override { return levels_; }
  void prefer(std::span<const double> chances) override { options_.levels.prefer(chances); }
  std::span<const uint8_t> masks() const override { return masks_; }
  Picture picture(int64_t environment) const override {
    const Slot& slot = slots_[static_cast<size_t>(environment)];
    return world_.picture(slot.level, slot.state);
  }

  void step(std::span<const int32_t> actions) override {
    CHECK(actions.size() == slots_.size(), "{} actions for {}", actions.size(), slots_.size());
    step_part(actions, 0);
  }
  bool has_parts() const override { return true; }
  void step_part(std::span<const int32_t> actions, int64_t first) override {
    if (first == 0) ++clock_;
    const auto from = static_cast<size_t>(first);
    each({first, first + std::ssize(actions)}, [&](size_t i) { step_one(i, actions[i - from]); });
  }

  std::vector<StoredTensor> save(const std::string& prefix) const override;
  void restore(const TensorFile& saved, const std::string& prefix) override;

 private:
  using State = typename W::State;

  struct Slot {
    typename W::Level level{};
    State state{};
    int64_t episode = 0;
    int32_t steps = 0;  // of the episode
  };

  template <typename Body>
  void each(Body&& body) {
    each({0, options_.count}, body);
  }
  template <typename Body>
  void each(Range which, Body&& body) {
    const int64_t total = which.end - which.begin;
    const int64_t parts = std::max<int64_t>(1, parts_ * total / options_.count);
    const auto run_part = [&](int64_t part) {
      const Range range = part_range(total, part, parts);
      for (int64_t i = range.begin; i < range.end; ++i) {
        body(static_cast<size_t>(which.begin + i));
      }
    };
    if (parts == 1) {
      run_part(0);
    } else {
      default_pool().run(parts, run_part);
    }
  }

  // What is drawn for an environment after so many steps of all.
  Rng rng_of(size_t i) const {
    return Rng(options_.seed, stream(Stream::kWorld), static_cast<uint32_t>(clock_),
               static_cast<uint32_t>(i));
  }

  std::byte* view(size_t i) { return observations_.data() + i * bytes_; }

  void show(size_t i) {
    world_.observe(slots_[i].level, slots_[i].state, view(i));
    show_mask(i);
  }
  void show_mask(size_t i) {
    if constexpr (HasMask<W>) {
      world_.mask(slots_[i].level, slots_[i].state, masks_.data() + i * actions_);
    }
  }

  void begin_episode(size_t i, Rng& rng) {
    Slot& slot = slots_[i];
    const int64_t number =
        options_.levels.draw(options_.seed, static_cast<int64_t>(i), slot.episode);
    if (number != levels_[i] || clock_ == 0) world_.make(number, slot.level);
    levels_[i] = number;
    slot.steps = 0;
    world_.begin(slot.level, slot.state, rng);
    show(i);
  }

  void step_one(size_t i, int32_t action) {
    Slot& slot = slots_[i];
    DCHECK(action >= 0 && action < static_cast<int32_t>(actions_), "action {}", action);
    DCHECK(masks_.empty() || masks_[i * actions_ + static_cast<size_t>(action)], "action {}",
           action);
    Rng rng = rng_of(i);
    Outcome outcome = world_.step(slot.level, slot.state, action, rng);
    if (++slot.steps >= world_.limit() && outcome.end == End::kNone) outcome.end = End::kCutOff;
    rewards_[i] = outcome.reward;
    ends_[i] = outcome.end;
    if constexpr (UpdatesView<W>) {
      world_.update(slot.level, slot.state, view(i));
    } else {
      world_.observe(slot.level, slot.state, view(i));
    }
    if (outcome.end == End::kNone) return show_mask(i);
    std::memcpy(last_observations_.data() + i * bytes_, view(i), bytes_);
    ended_levels_[i] = levels_[i];
    ++slot.episode;
    begin_episode(i, rng);
  }

  W world_;
  EnvironmentOptions options_;
  size_t bytes_, actions_;  // of an observation; that there are
  int64_t parts_ = 1;
  int64_t clock_ = 0;  // steps of all together
  std::vector<Slot> slots_;
  std::vector<int64_t> levels_;
  std::vector<std::byte> observations_, last_observations_;
  std::vector<float> rewards_;
  std::vector<End> ends_;
  std::vector<int64_t> ended_levels_;
  std::vector<uint8_t> masks_;
};

namespace worlds {

// (rows, width) bytes of a tensor that has to be there.
std::span<const char> stored_bytes(const TensorFile& saved, const std::string& name, DType dtype,
                                   const std::vector<int64_t>& shape);
UserError impossible(const TensorFile& saved, const std::string& name);

template <typename T>
std::vector<T> stored(const TensorFile& saved, const std::string& name,
                      const std::vector<int64_t>& shape) {
  const std::span<const char> bytes = stored_bytes(saved, name, dtype_of<T>(), shape);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename T>
StoredTensor tensor(std::string name, std::vector<int64_t> shape, const std::vector<T>& values) {
  return StoredTensor::of<T>(std::move(name), std::move(shape), std::span<const T>(values));
}

// The chances of levels, where some are preferred, among what is saved; as they were saved.
void save_chances(const Levels& levels, const std::string& prefix,
                  std::vector<StoredTensor>& saved);
std::vector<double> stored_chances(const TensorFile& saved, const std::string& prefix,
                                   const Levels& levels);

template <typename T>
std::span<const uint8_t> as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace worlds

template <World W>
std::vector<StoredTensor> Worlds<W>::save(const std::string& prefix) const {
  const int64_t n = count(), width = static_cast<int64_t>(bytes_);
  std::vector<State> states;
  std::vector<int64_t> episodes, steps;
  for (const Slot& slot : slots_) {
    states.push_back(slot.state);
    episodes.push_back(slot.episode);
    steps.push_back(slot.steps);
  }
  using worlds::as_bytes, worlds::tensor;
  constexpr int64_t kState = sizeof(State);
  std::vector<StoredTensor> all{
      tensor<int64_t>(prefix + "clock", {1}, {clock_}),
      StoredTensor::of<uint8_t>(prefix + "states", {n, kState}, as_bytes(states)),
      tensor(prefix + "episodes", {n}, episodes),
      tensor(prefix + "steps", {n}, steps),
      tensor(prefix + "levels", {n}, levels_),
      tensor(prefix + "rewards", {n}, rewards_),
      StoredTensor::of<uint8_t>(prefix + "ends", {n}, as_bytes(ends_)),
      tensor(prefix + "ended_levels", {n}, ended_levels_),
      StoredTensor::of<uint8_t>(prefix + "last_observations", {n, width},
                                as_bytes(last_observations_))};
  worlds::save_chances(options_.levels, prefix, all);
  return all;
}

template <World W>
void Worlds<W>::restore(const TensorFile& saved, const std::string& prefix) {
  using worlds::impossible, worlds::stored;
  const int64_t n = count(), width = static_cast<int64_t>(bytes_);
  constexpr int64_t kState = sizeof(State);
  const int64_t clock = stored<int64_t>(saved, prefix + "clock", {1})[0];
  const auto states = stored<uint8_t>(saved, prefix + "states", {n, kState});
  const auto episodes = stored<int64_t>(saved, prefix + "episodes", {n});
  const auto steps = stored<int64_t>(saved, prefix + "steps", {n});
  auto levels = stored<int64_t>(saved, prefix + "levels", {n});
  auto rewards = stored<float>(saved, prefix + "rewards", {n});
  const auto ends = stored<uint8_t>(saved, prefix + "ends", {n});
  auto ended_levels = stored<int64_t>(saved, prefix + "ended_levels", {n});
  const auto last = stored<uint8_t>(saved, prefix + "last_observations", {n, width});
  const auto chances = worlds::stored_chances(saved, prefix, options_.levels);

  std::vector<Slot> slots(slots_.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    slot.episode = episodes[i];
    slot.steps = static_cast<int32_t>(std::clamp<int64_t>(steps[i], -1, world_.limit()));
    std::memcpy(&slot.state, states.data() + i * sizeof(State), sizeof(State));
    if (levels[i] < 0 || levels[i] >= Levels::kAll || ended_levels[i] < -1 ||
        ended_levels[i] >= Levels::kAll || slot.episode < 0 || ends[i] > 2 || slot.steps < 0 ||
        slot.steps >= world_.limit()) {
      throw impossible(saved, prefix);
    }
    world_.make(levels[i], slot.level);
    if (!world_.possible(slot.level, slot.state)) throw impossible(saved, prefix);
  }
  options_.levels.prefer(chances);
  clock_ = clock;
  slots_ = std::move(slots);
  // In place: whoever looks at these goes on looking there.
  std::copy(levels.begin(), levels.end(), levels_.begin());
  std::copy(rewards.begin(), rewards.end(), rewards_.begin());
  std::memcpy(ends_.data(), ends.data(), ends.size());
  std::copy(ended_levels.begin(), ended_levels.end(), ended_levels_.begin());
  std::memcpy(last_observations_.data(), last.data(), last.size());
  each([this](size_t i) { show(i); });
}

}  // namespace agora::agents

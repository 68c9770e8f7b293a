#include "agents/replay.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace agora::agents {
namespace {

template <typename T>
std::span<const uint8_t> as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
void put(std::vector<T>& all, int64_t slot, std::span<const T> values) {
  const auto at = static_cast<size_t>(slot) * values.size();
  if (all.size() < at + values.size()) all.resize(at + values.size());
  std::copy(values.begin(), values.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
}

template <typename T>
void take(const TensorFile& saved, const std::string& name, const std::vector<int64_t>& shape,
          std::vector<T>& values) {
  const StoredTensor& tensor = saved.at(name, shape);
  if (dtype_size(tensor.dtype) != sizeof(T)) {
    throw user_error("{}: {} is of type {}", saved.path, name, dtype_name(tensor.dtype));
  }
  values.resize(tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
}

}  // namespace

TransitionBatch::TransitionBatch(const Space& space, bool masked, int64_t rows)
    : seen(static_cast<size_t>(rows * space.observation.bytes())),
      next(seen.size()),
      actions(static_cast<size_t>(rows)),
      rewards(actions.size()),
      goes_on(actions.size()),
      masks(masked ? static_cast<size_t>(rows * space.actions) : 0) {}

Replay::Replay(const Space& space, bool masked, int64_t capacity)
    : bytes_(static_cast<size_t>(space.observation.bytes())),
      width_(masked ? static_cast<size_t>(space.actions) : 0),
      most_action_(space.actions - 1),
      capacity_(capacity) {}

void Replay::add(const Transition& transition) {
  CHECK(transition.seen.size() == bytes_ && transition.next.size() == bytes_, "{} and {} bytes",
        transition.seen.size(), transition.next.size());
  const int64_t slot = added_++ % capacity_;
  put(seen_, slot, transition.seen);
  put(next_, slot, transition.next);
  put<int32_t>(actions_, slot, std::span(&transition.action, 1));
  put<float>(rewards_, slot, std::span(&transition.reward, 1));
  const uint8_t goes_on = transition.goes_on;
  put<uint8_t>(goes_on_, slot, std::span(&goes_on, 1));
  CHECK(transition.mask.size() == width_, "a mask of {}", transition.mask.size());
  put(masks_, slot, transition.mask);
}

Transition Replay::operator[](int64_t index) const {
  const auto at = static_cast<size_t>(index);
  return {.seen = std::span(seen_).subspan(at * bytes_, bytes_),
          .action = actions_[at],
          .reward = rewards_[at],
          .goes_on = goes_on_[at] != 0,
          .next = std::span(next_).subspan(at * bytes_, bytes_),
          .mask = std::span(masks_).subspan(at * width_, width_)};
}

void Replay::copy(int64_t index, TransitionBatch& batch, int64_t row) const {
  const Transition from = (*this)[index];
  const auto to = static_cast<size_t>(row);
  put(batch.seen, row, from.seen);
  put(batch.next, row, from.next);
  batch.actions[to] = from.action;
  batch.rewards[to] = from.reward;
  batch.goes_on[to] = from.goes_on ? 1.0F : 0.0F;
  put(batch.masks, row, from.mask);
}

std::vector<StoredTensor> Replay::save(const std::string& prefix) const {
  const int64_t n = size(), bytes = static_cast<int64_t>(bytes_);
  const std::vector<int64_t> added{added_};
  return {StoredTensor::of<int64_t>(prefix + "added", {1}, added),
          StoredTensor::of<uint8_t>(prefix + "seen", {n, bytes}, as_bytes(seen_)),
          StoredTensor::of<uint8_t>(prefix + "next", {n, bytes}, as_bytes(next_)),
          StoredTensor::of<int32_t>(prefix + "actions", {n}, actions_),
          StoredTensor::of<float>(prefix + "rewards", {n}, rewards_),
          StoredTensor::of<uint8_t>(prefix + "goes_on", {n}, goes_on_),
          StoredTensor::of<uint8_t>(prefix + "masks", {n, static_cast<int64_t>(width_)}, masks_)};
}

void Replay::restore(const TensorFile& saved, const std::string& prefix) {
  const int64_t added = saved.at(prefix + "added", {1}).values<int64_t>()[0];
  if (added < 0) throw user_error("{}: {}added is {}", saved.path, prefix, added);
  const int64_t n = std::min(added, capacity_), bytes = static_cast<int64_t>(bytes_);
  take(saved, prefix + "seen", {n, bytes}, seen_);
  take(saved, prefix + "next", {n, bytes}, next_);
  take(saved, prefix + "actions", {n}, actions_);
  for (const int32_t each : actions_) {
    if (each < 0 || each > most_action_) {
      throw user_error("{}: {}actions has {}, expected 0 to {}", saved.path, prefix, each,
                       most_action_);
    }
  }
  take(saved, prefix + "rewards", {n}, rewards_);
  take(saved, prefix + "goes_on", {n}, goes_on_);
  take(saved, prefix + "masks", {n, static_cast<int64_t>(width_)}, masks_);
  added_ = added;
}

void tell_transitions(const Environment& environment, std::span<const std::byte> seen,
                      std::span<const int32_t> actions,
                      const std::function<void(int64_t environment, const Transition&)>& tell) {
  const auto bytes = static_cast<size_t>(environment.space().observation.bytes());
  const auto width = environment.masks().size() / actions.size();
  for (size_t e = 0; e < actions.size(); ++e) {
    const End end = environment.ends()[e];
    if (end == End::kCutOff && width > 0) continue;
    const auto after = end == End::kNone     ? environment.observations()
                       : end == End::kCutOff ? environment.last_observations()
                                             : seen;
    tell(static_cast<int64_t>(e), {.seen = seen.subspan(e * bytes, bytes),
                                   .action = actions[e],
                                   .reward = environment.rewards()[e],
                                   .goes_on = end != End::kTerminated,
                                   .next = after.subspan(e * bytes, bytes),
                                   .mask = environment.masks().subspan(e * width, width)});
  }
}

void try_every_action(const std::string& name, const Arguments& arguments, int64_t level,
                      int actions, const std::function<void(const Transition&)>& tell) {
  const auto environment = make_environment(
      name, {.levels = Levels::range(level, 1), .count = actions, .arguments = arguments});
  const std::vector<std::byte> seen(environment->observations().begin(),
                                    environment->observations().end());
  std::vector<int32_t> chosen;
  for (int32_t action = 0; action < actions; ++action) {
    const auto mask = environment->masks().empty()
                          ? environment->masks()
                          : environment->masks().subspan(static_cast<size_t>(action) * actions,
                                                         static_cast<size_t>(actions));
    const bool allowed = mask.empty() || mask[static_cast<size_t>(action)] != 0;
    chosen.push_back(
        allowed ? action
                : static_cast<int32_t>(std::find(mask.begin(), mask.end(), 1) - mask.begin()));
  }
  environment->step(chosen);
  tell_transitions(*environment, seen, chosen, [&](int64_t e, const Transition& each) {
    if (each.action == e) tell(each);
  });
}

}  // namespace agora::agents

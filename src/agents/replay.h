#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "agents/environment.h"

namespace agora::agents {

// What followed on one action.
struct Transition {
  std::span<const std::byte> seen;
  int32_t action = 0;
  float reward = 0;
  bool goes_on = true;              // what comes after it has a value
  std::span<const std::byte> next;  // seen then
  std::span<const uint8_t> mask;    // of what may be done then; empty if everything always may
};

// Transitions to learn from, side by side.
struct TransitionBatch {
  TransitionBatch(const Space& space, bool masked, int64_t rows);

  std::vector<std::byte> seen, next;  // (rows, bytes)
  std::vector<int32_t> actions;       // (rows)
  std::vector<float> rewards, goes_on;
  std::vector<uint8_t> masks;  // (rows, actions) or empty
};

// Transitions that are remembered; when there are too many, the oldest make room.
class Replay {
 public:
  Replay(const Space& space, bool masked, int64_t capacity);

  int64_t size() const { return static_cast<int64_t>(actions_.size()); }
  Transition operator[](int64_t index) const;
  void add(const Transition& transition);
  void copy(int64_t index, TransitionBatch& batch, int64_t row) const;

  std::vector<StoredTensor> save(const std::string& prefix) const;
  void restore(const TensorFile& saved, const std::string& prefix);

 private:
  size_t bytes_, width_;  // of an observation, of a mask
  int32_t most_action_;
  int64_t capacity_;
  int64_t added_ = 0;                   // so far
  std::vector<std::byte> seen_, next_;  // (size, bytes)
  std::vector<int32_t> actions_;
  std::vector<float> rewards_;
  std::vector<uint8_t> goes_on_, masks_;
};

// What is told of the environments' last step, before which they showed `seen`. What follows on an
// end is never looked at, and `seen` again. None is told of an
// episode that was cut off where masks exist: nobody knows what might have been done then.
void tell_transitions(const Environment& environment, std::span<const std::byte> seen,
                      std::span<const int32_t> actions,
                      const std::function<void(int64_t environment, const Transition&)>& tell);

// Every action that may be done in the first state of a level, tried once.
void try_every_action(const std::string& environment, const Arguments& arguments, int64_t level,
                      int actions, const std::function<void(const Transition&)>& tell);

}  // namespace agora::agents

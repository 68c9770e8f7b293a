#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "agents/space.h"

namespace agora::agents {

// What an explorer sees: pictures (height, width, channels + 1) whose last channel is the trace.
// Observations that are no pictures in bytes are the user's mistake.
ObservationSpace with_trace(const ObservationSpace& space);

// Where an episode has been: of each pixel the largest change, over channels and all that was seen,
// since the episode's first picture. So without a memory of its own an explorer knows what is new.
class Trace {
 public:
  explicit Trace(const ObservationSpace& space);  // without the trace

  // The next picture of the episode, and the same with the trace.
  void see(std::span<const std::byte> picture, std::span<std::byte> extended);
  // The same for one that was seen before.
  void extend(std::span<const std::byte> picture, std::span<std::byte> extended) const;
  void clear() { has_begun_ = false; }  // the episode is over

  std::span<const std::byte> first() const { return first_; }  // (pixels, channels)
  std::span<const std::byte> plane() const { return plane_; }  // (pixels)
  void restore(std::span<const std::byte> first, std::span<const std::byte> plane);

 private:
  size_t channels_;
  bool has_begun_ = false;
  std::vector<std::byte> first_, plane_;
};

}  // namespace agora::agents

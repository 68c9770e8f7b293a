#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "agents/space.h"

namespace agora::agents {

// How new what an episode shows is: the distance, where 1 is a channel of a pixel from 0 to full,
// to the k-th nearest of what it has shown before, or to the farthest of fewer. Pictures of at
// least 48 pixels a side are averaged over 3 x 3 pixels first.
class Novelty {
 public:
  static constexpr int64_t kMost = 500;  // pictures of an episode that are kept: the last ones

  Novelty(const ObservationSpace& space, int64_t neighbours, int64_t most = kMost);

  double see(std::span<const std::byte> picture);  // 0 of the first one
  void clear() { seen_ = 0; }                      // the episode is over

  int64_t seen() const { return seen_; }
  int64_t kept() const { return seen_ < most_ ? seen_ : most_; }
  int64_t size() const { return size_; }  // bytes of one that is kept
  // What is kept (size, kept).
  void save(std::span<uint8_t> frames) const;
  void restore(int64_t seen, std::span<const uint8_t> frames);

 private:
  void pool(std::span<const std::byte> picture);
  void add(int64_t slot);

  ObservationSpace space_;
  int64_t neighbours_, most_, size_;
  bool pools_;
  int64_t seen_ = 0;             // of the episode
  std::vector<uint8_t> frames_;  // (size, most), the oldest is replaced
  std::vector<uint8_t> now_, next_;
  std::vector<int64_t> squares_;  // (most): of distances to what was seen last
  std::vector<int64_t> order_;
};

}  // namespace agora::agents

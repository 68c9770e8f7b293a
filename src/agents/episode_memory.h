#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "agents/space.h"
#include "base/parameter.h"

namespace agora::agents {

struct MemoryOptions {
  double cost = 0.5;
  double radius = 0.35;
};
// `recall`, which is the cost, 0 for none, and `recall-radius`.
std::vector<OptionParameter<MemoryOptions>> memory_parameters();

// The places that an episode has shown, and where actions led from them: a search through a level
// that nobody knows, guided by a policy. An action that was not tried yet is worth the logarithm of
// its probability; one that was tried, the best of what is worth trying behind it, less the steps
// to get there and back.
class EpisodeMemory {
 public:
  EpisodeMemory(const ObservationSpace& space, int64_t actions, const MemoryOptions& how);

  // What is seen now, and the policy's logits of it. In a place that was seen before they are
  // replaced by those of the search; in a new one they stay.
  void see(std::span<const std::byte> observation, std::span<float> logits);
  void did(int32_t action) { done_ = action; }
  void clear();
  int64_t places() const { return static_cast<int64_t>(places_.size()); }

 private:
  static constexpr int32_t kNone = -1;
  struct Way {
    int32_t to = kNone, tries = 0;
  };
  struct Place {
    std::vector<uint8_t> look;
    std::vector<Way> ways;       // (actions)
    std::vector<float> guesses;  // (actions): logarithms of the policy's probabilities
    std::vector<std::pair<int32_t, int32_t>> from;  // places and actions that led here
    double hope = 0;                                // the best that is worth trying from here
  };

  std::vector<uint8_t> look_of(std::span<const std::byte> observation) const;
  void note_stride(const std::vector<uint8_t>& look);
  int32_t find(const std::vector<uint8_t>& look) const;
  void link(int32_t to);
  double guess(const Place& place, size_t action) const;
  double worth(const Place& place, size_t action) const;
  void plan();

  ObservationSpace space_;
  bool is_large_picture_;  // compared by the means of small squares, others exactly
  size_t actions_;
  MemoryOptions how_;
  std::vector<Place> places_;
  int32_t here_ = kNone, done_ = kNone;
  std::vector<double> moved_, stayed_;  // (actions): first tries that led elsewhere, or nowhere
  std::vector<double> doubt_;           // (actions): log of the share that led elsewhere
  std::vector<uint8_t> last_;           // what was seen last
  std::vector<int64_t> strides_;        // by how much steps changed it, in rising order
  std::vector<std::pair<double, int32_t>> heap_;  // of plan()
};

}  // namespace agora::agents

#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "agents/mover.h"
#include "agents/space.h"
#include "base/parameter.h"

namespace agora::agents {

struct MemoryOptions {
  double cost = 0.5;
  double radius = 0.5;
};
// `recall`, which is the cost, 0 for none, and `recall-radius`.
std::vector<OptionParameter<MemoryOptions>> memory_parameters();

// The places that an episode has shown, and where actions led from them: a search through a level
// that nobody knows, guided by a policy. An action that was not tried yet is worth the logarithm of
// its probability and of the chance that it leads to somewhere new; one that was tried, the best of
// what is worth trying behind it, less the steps to get there and back. In large pictures a place
// is where the one thing that moves is; pictures with more of them are not remembered. Other
// observations are places themselves.
class EpisodeMemory {
 public:
  EpisodeMemory(const ObservationSpace& space, int64_t actions, const MemoryOptions& how);

  // What is seen now, and the policy's logits of it. In a place that was seen before they are
  // replaced by those of the search; in a new one they stay.
  void see(std::span<const std::byte> observation, std::span<float> logits);
  void did(int32_t action);
  void clear();
  int64_t places() const { return static_cast<int64_t>(places_.size()); }

 private:
  static constexpr int32_t kNone = -1;
  struct Way {
    int32_t to = kNone, tries = 0;
    int32_t shifts = 0;  // tries that ended in the same place, but not where they began
    int32_t stage = 0;   // of the world when it was gone last
  };
  struct Place {
    std::vector<std::byte> look;  // empty if `at` is known
    std::optional<Point> at;
    bool is_measured = false;
    Box reach;                   // pixels that are this place's
    int32_t stage = 0;           // of the world when `guesses` were made
    std::vector<Way> ways;       // (actions)
    std::vector<float> guesses;  // (actions): logarithms of the policy's probabilities
    std::vector<std::pair<int32_t, int32_t>> from;  // places and actions that led here
    double hope = 0;                                // the best that is worth trying from here
  };
  // First tries of an action, and the sum of all shifts that were seen after it.
  struct Record {
    double found = 0, failed = 0;              // led to a new place, or not, where that was open
    double found_again = 0, failed_again = 0;  // where a known place was expected
    Point shift;
    double shifts = 0;
  };

  int32_t find(std::span<const std::byte> observation) const;
  int32_t add(std::span<const std::byte> observation);
  void locate(int32_t place, Point at, bool is_measured);
  void mark(const Box& reach, int32_t by);
  void ask(Place& place, std::span<const float> logits) const;
  void link(int32_t to, bool is_new);
  void compare(const Place& place, size_t action);
  bool is_open(int32_t place, size_t action) const;
  bool expects_known(const Place& place, size_t action) const;
  double step_cost(const Way& way) const;
  void guess(int32_t place);
  void take_logarithms();
  void plan();

  ObservationSpace space_;
  size_t actions_;
  MemoryOptions how_;
  std::optional<Mover> mover_;  // of large pictures
  int32_t stage_ = 0;           // rises whenever the world changes: walls may be doors now
  std::vector<Place> places_;
  std::vector<int32_t> marks_;  // (pixels): how many places reach there
  int32_t here_ = kNone, done_ = kNone;
  int32_t going_ = kNone;  // the action that shifts it within this place
  bool expected_known_ = false;
  std::vector<Record> records_;        // (actions)
  std::vector<double> agreed_, both_;  // (actions, actions): places where both were tried
  // Logarithms of chances: of somewhere new by an action, where a known place is expected or not;
  // (actions, actions) that one leads elsewhere than another.
  std::vector<double> new_, new_again_, differs_;
  std::vector<double> guesses_;                   // (actions): of guess()
  std::vector<std::pair<double, int32_t>> heap_;  // of plan()
};

}  // namespace agora::agents

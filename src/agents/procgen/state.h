#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace agora::agents::procgen {

// The head of a game's state as the library writes it: which game it is, what it was told, and how
// it draws the next levels.
struct StateHead {
  static std::optional<StateHead> of(const std::string& state);  // nothing if it has none

  std::string game;
  std::array<int32_t, 12> settings;
  int32_t level;                        // that is played
  int32_t limit;                        // of an episode's steps
  size_t bounds_at, limit_at;           // two numbers; one
  size_t generator_at, generator_size;  // a text with its length before it
};

// The library draws levels with a Mersenne Twister, which gives one word after the other of a table
// before it makes a new one. A table of our own makes it draw the levels that we want.
inline constexpr int64_t kPlanned = 624;

// Changes a state so that the next episodes, beginning with number `next`, are of the levels
// level_of(next) to the last of the table. What was drawn before stands there too, so that the same
// episode always has the same bytes.
void plan_levels(std::string& state, int64_t next,
                 const std::function<int64_t(int64_t episode)>& level_of);
// Changes a state so that the library never cuts an episode off.
void lift_limit(std::string& state);

}  // namespace agora::agents::procgen

#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/procgen/library.h"

namespace agora::agents::procgen {

inline constexpr int64_t kSide = 64, kObservation = kSide * kSide * 3;  // pixels, bytes
inline constexpr int32_t kActions = 15;
inline constexpr int32_t kBeginAnew = -1;  // in place of an action: an end without a reason

struct Settings {
  std::string game;  // a name that the library does not know would end the program
  bool hard = false, backgrounds = true, monochrome = false, one_theme = false;
  int32_t first_level = 0, levels = 0;  // drawn by the library itself; 0: of all
  int32_t seed = 0, threads = 0;        // the library's own; 0: the caller's alone
};

// Some games of one kind as the library steps them: an episode that ends is followed by the next,
// whose beginning is shown. The observations stay where the caller wants them.
class Games {
 public:
  Games(const Settings& settings, std::span<std::byte> observations);  // kObservation bytes each
  ~Games();
  Games(const Games&) = delete;
  Games& operator=(const Games&) = delete;

  void step(std::span<const int32_t> actions);
  // Brings near what a step needs first; worth it where many of these are stepped in turn.
  void prefetch() const {
    constexpr size_t kLine = 64, kHead = 512;
    const char* const head = static_cast<const char*>(games_);
    for (size_t at = 0; at < kHead; at += kLine) __builtin_prefetch(head + at);
    __builtin_prefetch(actions_.data());
    __builtin_prefetch(rewards_.data());
    __builtin_prefetch(firsts_.data());
    __builtin_prefetch(levels_.data());
    __builtin_prefetch(previous_levels_.data());
    __builtin_prefetch(completed_.data());
  }
  float reward(size_t game = 0) const { return rewards_[game]; }
  bool ended(size_t game = 0) const { return firsts_[game] != 0; }
  int32_t level(size_t game = 0) const { return levels_[game]; }

  // All that a game is, level generator included. What no game wrote would end the program.
  void get_state(std::string& bytes, int game = 0) const;
  void set_state(std::string& bytes, int game = 0);

 private:
  const Library& library_;
  std::vector<int32_t> actions_, previous_levels_, levels_;
  std::vector<uint8_t> firsts_, completed_;
  std::vector<float> rewards_;
  void* games_ = nullptr;
};

}  // namespace agora::agents::procgen

#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace agora::agents {

// The levels that episodes are drawn from, each with the same chance unless some are preferred: a
// range, a list in which a level may stand more than once, or all there are.
class Levels {
 public:
  static constexpr int64_t kAll = int64_t{1} << 31;  // Procgen numbers its levels with 31 bits
  static constexpr int64_t kMostListed = 10'000'000;

  static Levels range(int64_t first, int64_t count);
  static Levels list(std::vector<int64_t> levels);
  static Levels all() { return range(0, kAll); }

  int64_t size() const;
  int64_t operator[](int64_t index) const;
  // The level of an environment's episode: a pure function of its address.
  int64_t draw(uint64_t seed, int64_t environment, int64_t episode) const;
  // From now on each is drawn with a chance in proportion to its own here; none: all alike again.
  void prefer(std::span<const double> chances);
  const std::vector<double>& preferred() const { return chances_; }
  // As many draws from these, with replacement: one sample of the posterior, as LEEP takes it.
  Levels bootstrap(uint64_t seed, int64_t member) const;
  // `parts` lists of different levels that are these together.
  Levels part(int64_t index, int64_t parts) const;

  bool is_range() const { return listed_.empty(); }
  std::string text() const;  // "levels 0 to 199", "137 different levels of 200"

 private:
  int64_t first_ = 0, count_ = 0;
  std::vector<int64_t> listed_;
  std::vector<double> chances_, sums_;  // of all up to each
};

}  // namespace agora::agents

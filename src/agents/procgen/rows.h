#pragma once
#include <array>
#include <memory>
#include <vector>

#include "agents/environment.h"
#include "agents/procgen/games.h"
#include "base/thread_pool.h"

namespace agora::agents::procgen {

// A row of games in which we decide on levels and limits and the library on everything else. Each
// is apart from the others, so that threads can share them in any way.
class Rows final : public Environment {
 public:
  Rows(Settings settings, Space space, const EnvironmentOptions& options);

  int64_t count() const override { return options_.count; }
  const Space& space() const override { return space_; }
  void step(std::span<const int32_t> actions) override;
  bool has_parts() const override { return true; }
  void step_part(std::span<const int32_t> actions, int64_t first) override;
  std::span<const std::byte> observations() const override { return observations_; }
  std::span<const float> rewards() const override { return rewards_; }
  std::span<const End> ends() const override { return ends_; }
  std::span<const int64_t> ended_levels() const override { return ended_levels_; }
  std::span<const std::byte> last_observations() const override { return last_observations_; }
  // An episode that comes to its end is followed by the next before the library draws anything.
  bool shows_ends() const override { return false; }
  std::span<const int64_t> levels() const override { return levels_; }
  void prefer(std::span<const double> chances) override;
  std::vector<StoredTensor> save(const std::string& prefix) const override;
  void restore(const TensorFile& saved, const std::string& prefix) override;
  Picture picture(int64_t environment) const override;

 private:
  std::span<std::byte> view(size_t i);
  int64_t level_of(size_t i, int64_t episode) const;
  void plan(size_t i, std::string& state, int64_t next);
  void begin_anew(size_t i);  // by force
  void note_level(size_t i);
  void step_one(size_t i, int32_t action);
  template <typename Body>
  void each(Range which, Body&& body) const;

  Settings settings_;
  Space space_;
  EnvironmentOptions options_;
  int64_t parts_;
  int32_t limit_ = 0;                      // of an episode's steps
  std::array<int32_t, 12> told_{};         // as the library keeps it
  std::vector<int64_t> episodes_, steps_;  // so far, of each; of the episode
  std::vector<int64_t> levels_, ended_levels_;
  std::vector<std::byte> observations_, last_observations_;
  std::vector<float> rewards_;
  std::vector<End> ends_;
  std::vector<std::unique_ptr<Games>> games_;  // one each; after what they write into
};

}  // namespace agora::agents::procgen

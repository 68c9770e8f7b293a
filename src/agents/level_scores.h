#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "agents/rollout.h"

namespace agora::agents {

// Which levels to play next: prioritised level replay (Jiang, Grefenstette and Rocktaeschel, 2021).
struct LevelReplay {
  double temperature = 0.1;  // of the chances by rank: the lower, the fewer levels
  double staleness = 0.1;    // share of the chances that goes by how long a level was not played
};

// What there is to learn from each level: how wrong its values were when it was last played, on
// average over its steps in that rollout, as advantages say (the authors' code keeps its last
// episode there).
class LevelScores {
 public:
  LevelScores(const Levels& levels, const LevelReplay& how);

  void note(const Rollout& rollout);  // with its advantages
  // In the order of the levels. As long as some were never played, these alone; then the level of
  // rank r by r^(-1/temperature), and a share by rollouts since. One that stands twice counts
  // twice.
  std::vector<double> chances() const;

  std::vector<StoredTensor> save(const std::string& prefix) const;
  void restore(const TensorFile& saved, const std::string& prefix);

 private:
  LevelReplay how_;
  std::vector<int64_t> levels_;  // different ones, rising
  std::vector<size_t> places_;   // of each of the order: where it is among those
  std::vector<double> scores_;   // of those; below 0: never played
  std::vector<int64_t> since_;   // rollouts
};

}  // namespace agora::agents

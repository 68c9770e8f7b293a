#pragma once
#include <string>
#include <vector>

#include "base/learning_loop.h"
#include "planning/learning/learning_run.h"

namespace agora::planning {

// A learning run with its curve, as learn() leads it; a step is an episode of each run. The curve
// has the mean return over windows of episodes and its 95 % interval over the runs.
class LearningCurve : public Resumable {
 public:
  LearningCurve(const Model& model, const LearningOptions& options, int64_t episodes);

  const LearningRun& run() const { return run_; }
  int64_t window() const { return window_; }  // episodes per point; the last may have fewer
  // (points): where a window ends, and what it saw
  const std::vector<double>& episode() const { return episode_; }
  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& half_width() const { return half_width_; }

  int64_t step() const override { return run_.episode(); }
  int64_t total() const override { return episodes_; }
  void advance(int64_t episodes) override;
  std::vector<StoredTensor> tensors() const override;
  Json extra() const override;
  void restore(const Checkpoint& checkpoint) override;
  NamedNumbers numbers() override;  // of the last point

 private:
  void play(int64_t episodes);  // all of one window

  LearningRun run_;
  int64_t episodes_, window_;
  std::vector<double> sums_;  // (runs): of the window under way, each return / its length
  std::vector<double> episode_, mean_, half_width_;
};

}  // namespace agora::planning

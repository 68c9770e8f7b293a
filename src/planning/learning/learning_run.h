#pragma once
#include <agora/planning/model.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "planning/learning/learner.h"

namespace agora::planning {

// Probabilities of the next action given the table's row; equally good actions share.
void behaviour(std::span<const double> row, const LearningOptions& options, double scale,
               std::span<double> policy);

// Several independent runs of one algorithm on one model, episode by episode. A run's episode
// depends on seed, run, episode and table only: the same bits for any number of threads, and
// after going on from a table that was kept.
class LearningRun {
 public:
  LearningRun(const Model& model, const LearningOptions& options);

  // Plays `episodes` more in each run. Returns (episodes, runs): the sums of rewards.
  std::vector<double> advance(int64_t episodes);
  int64_t episode() const { return episode_; }  // so many are done
  int64_t steps() const { return steps_; }      // in all runs together

  // Mean return of the greedy policy of each run, played without learning. (runs)
  std::vector<double> greedy_returns(int64_t episodes) const;

  const LearningRates& rates() const { return rates_; }
  const Learner& learner() const { return learner_; }

  // What has to be kept to go on: (runs, states, actions) each; visits are empty if unused.
  std::span<const double> table() const { return table_; }
  std::span<const double> visits() const { return visits_; }
  void restore(std::vector<double> table, std::vector<double> visits, int64_t episode,
               int64_t steps);

  std::span<const double> row(int32_t run, State s) const;

 private:
  struct Played {
    double sum;
    int64_t steps;
  };
  Played play(int32_t run, int64_t episode);
  double greedy_episode(int32_t run, Rng& rng) const;
  State draw_start(Rng& rng) const;
  Model::Transition draw_landing(State s, Action a, Rng& rng) const;
  double learning_rate(size_t entry);
  size_t entry(int32_t run, State s, Action a) const;

  const Model& model_;
  LearningOptions options_;
  const Learner& learner_;
  LearningRates rates_;
  double scale_;  // of a row before it becomes a Boltzmann policy
  std::vector<double> table_, visits_;
  int64_t episode_ = 0, steps_ = 0;
};

}  // namespace agora::planning

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "agents/environment.h"
#include "agents/policy.h"

namespace agora::agents {

struct EvaluationOptions {
  std::string environment;
  Arguments environment_arguments = {};
  Levels levels = Levels::all();
  int64_t episodes = 1000;
  int64_t environments = 64;
  bool greedy = false;  // the likeliest action instead of a draw
  uint64_t seed = 0;
};

struct Evaluation {
  double mean = 0;
  double low = 0, high = 0;  // 95 % by bootstrap over levels, with all episodes of a drawn one
  double normalised = 0;     // 0 for knowing nothing, 1 for the most that can be earned
  double length = 0;         // steps of an episode
  int64_t episodes = 0;
  std::vector<double> returns;  // (episodes)
  std::vector<int64_t> levels;  // (episodes)
};

// A policy made for other observations or actions is the user's mistake.
void expect_made_for(const Policy& policy, const Environment& environment, const std::string& name);

// What a policy earns. Every environment plays the same number of episodes, so that short ones do
// not count more often.
Evaluation evaluate(Policy& policy, const EvaluationOptions& options);

// The 95 % interval of the mean of `values`, resampling whole groups of equal `group`.
struct Interval {
  double low, high;
};
Interval bootstrap_interval(const std::vector<double>& values, const std::vector<int64_t>& group,
                            uint64_t seed);

}  // namespace agora::agents

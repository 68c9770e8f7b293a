#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "agents/evaluation/evaluate.h"

namespace agora::agents {

// One episode as it is shown to people.
struct Episode {
  int64_t level = 0;
  double earned = 0;
  int64_t steps = 0;
  bool cut_off = false;
};

// Plays `options.episodes` episodes one after the other; `show` gets the picture before each step,
// and what was earned and done so far.
std::vector<Episode> watch(
    Policy& policy, const EvaluationOptions& options,
    const std::function<void(const Environment::Picture&, const Episode& so_far)>& show);

}  // namespace agora::agents

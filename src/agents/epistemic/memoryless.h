#pragma once
#include <vector>

#include "agents/epistemic/problem.h"

namespace agora::agents::epistemic {

struct MemorylessOptions {
  int64_t starts = 16;
  uint64_t seed = 0;
  // The least probability of an action where there are several: 0 for the best policy of all; more
  // for policies that are random everywhere. While it climbs, 1e-10 stands for 0.
  double least = 0;
  int64_t most_numbers = 600;  // probabilities; more are the user's mistake
};

// The best policy that sees the state alone. Its return is a sum of ratios of polynomials, climbed
// by Newton's method within the simplices, from several starts: `agreed` of them ended in the best.
struct MemorylessOptimum {
  double value = 0;
  planning::Policy policy;  // of what is seen
  int64_t starts = 0, agreed = 0;
  double slope = 0;  // the most that a small change could gain, per unit of probability
};
MemorylessOptimum memoryless_optimum(const Problem& problem, const MemorylessOptions& options = {});

// The best of those that never draw, of all there are; nothing if there are more than so many.
struct DeterministicOptimum {
  bool exists = false;
  double value = 0;
  planning::Policy policy;  // of what is seen
};
DeterministicOptimum deterministic_optimum(const Problem& problem, int64_t most = 4096);

}  // namespace agora::agents::epistemic

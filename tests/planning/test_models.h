#pragma once
#include <agora/planning.h>

#include "base/rng.h"
#include "planning/models/benchmark_walls.h"

namespace agora::planning {

// The thesis's decision tree: S0 -> S1, S2, S3; S1 -> S4, S5; S2 -> S6; S3 -> S7.
inline Model decision_tree() {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, 0.0);
  builder.add(0, 1, 2, 1.0, 0.0);
  builder.add(0, 2, 3, 1.0, 0.0);
  builder.add(1, 0, 4, 1.0, 0.0);
  builder.add(1, 1, 5, 1.0, 0.0);
  builder.add(2, 0, 6, 1.0, 0.0);
  builder.add(3, 0, 7, 1.0, 0.0);
  for (State s = 4; s <= 6; ++s) builder.terminal_reward(s, 1.0);
  builder.terminal_reward(7, 0.0);
  return builder.build();
}

// n layers-free states 0..n-1 whose actions lead to later states; the last ones are terminal.
inline Model random_dag(uint64_t seed, State n, Action d) {
  Rng rng(seed);
  ModelBuilder builder;
  for (State s = 0; s < n - 3; ++s) {
    const Action count = 1 + static_cast<Action>(rng.below(static_cast<uint32_t>(d)));
    for (Action a = 0; a < count; ++a) {
      const State next = s + 1 + static_cast<State>(rng.below(static_cast<uint32_t>(n - s - 1)));
      builder.add(s, a, next, 1.0, rng.uniform(-2.0, 1.0));
    }
  }
  for (State s = n - 3; s < n; ++s) builder.terminal_reward(s, rng.uniform(-1.0, 1.0));
  return builder.build();
}

// A cyclic stochastic model: every action has three successors and a chance to end.
inline Model random_mdp(uint64_t seed, State n, Action d, double discount) {
  Rng rng(seed, 1);
  ModelBuilder builder;
  for (State s = 0; s < n - 1; ++s) {
    for (Action a = 0; a < d; ++a) {
      const double end = rng.uniform(0.01, 0.2);
      builder.add(s, a, n - 1, end, -1.0);
      for (int i = 0; i < 3; ++i) {
        const State next = static_cast<State>(rng.below(static_cast<uint32_t>(n - 1)));
        builder.add(s, a, next, (1.0 - end) / 3.0, -1.0 - 0.1 * a - 0.01 * (next % 7));
      }
    }
  }
  builder.terminal_reward(n - 1, 0.5);
  builder.discount(discount);
  return builder.build();
}

// A walk of n cells where a step forward slips back with probability `slip`; a cliff at the side.
inline Model slippery_walk(State n, double slip) {
  ModelBuilder builder;
  for (State s = 0; s < n; ++s) {
    const State back = std::max(0, s - 1), goal = n, pit = n + 1;
    const State ahead = s + 1 == n ? goal : s + 1;
    builder.add(s, 0, ahead, 1.0 - slip, -1.0);
    builder.add(s, 0, back, slip / 2, -1.0);
    builder.add(s, 0, pit, slip / 2, -1.0);
    builder.add(s, 1, ahead, 0.5, -1.0);  // slow but safe
    builder.add(s, 1, s, 0.5, -1.0);
  }
  builder.terminal_reward(n, 0.0);
  builder.terminal_reward(n + 1, -20.0);
  return builder.build();
}

}  // namespace agora::planning

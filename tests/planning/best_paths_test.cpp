#include "planning/z/best_paths.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planning/test_models.h"

namespace agora::planning {
namespace {

// States with up to three actions anywhere, self loops and dead ends included.
Model random_digraph(uint64_t seed, State n, bool one_reward, bool free_steps) {
  Rng rng(seed, 7);
  ModelBuilder builder;
  builder.reserve(n, 3);
  for (State s = 0; s + 3 < n; ++s) {
    for (Action a = 0; a < 3; ++a) {
      const double cost = one_reward                        ? 0.3
                          : free_steps && rng.below(2) == 0 ? 0.0
                                                            : rng.uniform(0.1, 5.0);
      builder.add(s, a, static_cast<State>(rng.below(static_cast<uint32_t>(n))), 1.0, -cost);
    }
  }
  builder.terminal_reward(n - 3, 2.0);
  builder.terminal_reward(n - 2, -1.0);
  builder.add(n - 1, 0, n - 1, 1.0, one_reward ? -0.3 : -1.0);  // no end in reach
  return builder.build();
}

// Bellman and Ford: the best of at most n steps.
std::vector<double> by_rounds(const Model& model) {
  std::vector<double> value(static_cast<size_t>(model.states()), -INFINITY);
  for (const Terminal& end : model.terminals()) value[static_cast<size_t>(end.state)] = end.reward;
  for (State round = 0; round < model.states(); ++round) {
    for (State s = 0; s < model.states(); ++s) {
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a)) continue;
        const auto t = model.transition(s, a, 0);
        double& own = value[static_cast<size_t>(s)];
        own = std::max(own, t.reward + value[static_cast<size_t>(t.next)]);
      }
    }
  }
  return value;
}

TEST(BestPaths, AreThoseOfRoundsAndTheirActionsWalkThem) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const bool one_reward = seed % 3 == 0;
    const Model model = random_digraph(seed, 40, one_reward, seed % 3 == 1);
    ASSERT_TRUE(has_best_paths(model));
    ASSERT_EQ(model.rewards().constant(), one_reward);
    const BestPaths paths = best_paths(model);
    EXPECT_EQ(paths.value, by_rounds(model)) << seed;
    for (size_t k = 1; k < paths.order.size(); ++k) {
      EXPECT_GE(paths.value[static_cast<size_t>(paths.order[k - 1])],
                paths.value[static_cast<size_t>(paths.order[k])]);
    }
    for (State s = 0; s < model.states(); ++s) {
      const double promised = paths.value[static_cast<size_t>(s)];
      if (promised == -INFINITY) {
        EXPECT_EQ(paths.action[static_cast<size_t>(s)], kNone);
        continue;
      }
      double earned = 0.0;
      State at = s;
      for (State step = 0; step < model.states() && !model.terminal(at); ++step) {
        const auto t = model.transition(at, paths.action[static_cast<size_t>(at)], 0);
        earned += t.reward;
        at = t.next;
      }
      ASSERT_TRUE(model.terminal(at)) << "seed " << seed << ", state " << s;
      EXPECT_NEAR(earned + model.terminal_reward(at), promised, 1e-12);
    }
  }
}

TEST(BestPaths, AskForCostsWithoutChance) {
  EXPECT_FALSE(has_best_paths(slippery_walk(5, 0.1)));
  EXPECT_FALSE(has_best_paths(random_dag(1, 20, 3)));
  EXPECT_TRUE(has_best_paths(benchmark_grid(8)));
}

}  // namespace
}  // namespace agora::planning

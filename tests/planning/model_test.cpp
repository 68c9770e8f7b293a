#include <agora/planning.h>
#include <gtest/gtest.h>

#include <cmath>

#include "planning/models/benchmark_walls.h"

namespace agora::planning {
namespace {

TEST(ModelBuilder, EqualTransitionsAddUp) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0 / 3, -1.0, 1);
  builder.add(0, 0, 0, 1.0 / 3, -1.0, 2);
  builder.add(0, 0, 1, 1.0 / 3, -1.0, 3);
  builder.terminal_reward(1, 5.0);
  const Model model = builder.build();
  EXPECT_FALSE(model.is_deterministic());
  ASSERT_EQ(model.transition_count(0, 0), 2);
  EXPECT_NEAR(model.transition(0, 0, 1).probability, 2.0 / 3, 1e-15);
  EXPECT_TRUE(model.rewards().constant());
  EXPECT_EQ(model.terminal_reward(1), 5.0);
}

TEST(ModelBuilder, DuplicatesWithOtherRewardsNameBothLines) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 0.5, -1.0, 7);
  builder.add(0, 0, 1, 0.5, -2.0, 9);
  try {
    builder.build();
    FAIL() << "accepted";
  } catch (const ModelError& error) {
    EXPECT_EQ(error.line(), 9);
    EXPECT_EQ(error.other_line(), 7);
    EXPECT_NE(std::string(error.what()).find("rewards -1 and -2"), std::string::npos);
  }
}

TEST(ModelBuilder, RefusesWrongSumsNanAndEmpty) {
  ModelBuilder builder;
  builder.add(builder.state("a"), builder.action("go"), builder.state("b"), 0.9, 0.0, 4);
  EXPECT_THROW(builder.build(), ModelError);
  EXPECT_THROW(ModelBuilder().add(0, 0, 0, 1.0, std::nan(""), 2), ModelError);
  EXPECT_THROW(ModelBuilder().add(0, 0, 0, -0.1, 0.0, 2), ModelError);
  EXPECT_THROW(ModelBuilder().build(), ModelError);
}

TEST(ModelBuilder, DeterministicIfEveryActionHasOneSuccessor) {
  ModelBuilder builder;
  const State a = builder.state("a"), b = builder.state("b");
  const Action go = builder.action("go");
  builder.add(a, go, b, 1.0, -1.0);
  builder.add(b, go, b, 1.0, 0.0);
  builder.absorbing_as_terminal();
  const Model model = builder.build();
  EXPECT_TRUE(model.is_deterministic());
  EXPECT_TRUE(model.terminal(1));
  EXPECT_EQ(model.find_state("b"), 1);
  EXPECT_EQ(model.state_name(0), "a");
}

TEST(Rewards, AreStoredCompactly) {
  EXPECT_TRUE(Rewards(std::vector<double>(1000, -1.0)).constant());
  std::vector<double> many(1000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i % 300);
  const Rewards rewards(many);
  for (size_t i = 0; i < many.size(); ++i) EXPECT_EQ(rewards[static_cast<int64_t>(i)], many[i]);
  EXPECT_EQ(rewards.max(), 299.0);
}

TEST(CompactList, KeepsEveryValue) {
  for (const int kinds : {1, 2, 256, 257, 1000}) {
    CompactList<double> list;
    std::vector<double> expected;
    for (int i = 0; i < 3000; ++i) {
      expected.push_back(i < 10 ? 0.5 : (i * 7 % kinds) + 0.5);
      list.push_back(expected.back());
    }
    EXPECT_EQ(list.size(), expected.size());
    EXPECT_EQ(list.all_equal(), kinds == 1);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(list[i], expected[i]) << kinds;
    EXPECT_EQ(list.take(), expected);
    EXPECT_EQ(list.size(), 0u);
  }
}

TEST(BenchmarkGrid, HasAFifthWallsAndAGoal) {
  const Model model = benchmark_grid(100);
  EXPECT_NEAR(model.states(), 8000, 150);
  ASSERT_EQ(model.terminals().size(), 1u);
  EXPECT_EQ(model.state_name(model.terminals()[0].state), "50,50");
}

}  // namespace
}  // namespace agora::planning

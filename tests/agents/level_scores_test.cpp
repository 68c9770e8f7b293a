// Which levels prioritised level replay plays next.
#include "agents/level_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agents/algorithm.h"
#include "support/scratch.h"

namespace agora::agents {
namespace {

Rollout played(std::vector<int64_t> levels, std::vector<float> advantages) {
  Rollout rollout;
  rollout.levels = std::move(levels);
  rollout.advantages = std::move(advantages);
  return rollout;
}

TEST(LevelScores, NewLevelsComeFirst) {
  LevelScores scores(Levels::range(10, 4), {});
  EXPECT_EQ(scores.chances(), (std::vector<double>{1, 1, 1, 1}));
  scores.note(played({10, 13, 13}, {5, 1, 1}));
  EXPECT_EQ(scores.chances(), (std::vector<double>{0, 1, 1, 0}));
}

// Level 12 has a mean |advantage| of 3, 11 of 2, 10 of 1; at temperature .5 the ranks count 1, 1/4,
// 1/9. Two rollouts later 10 was not played for two and 11 not for one: of a share of .3 they have
// 2/3 and 1/3.
TEST(LevelScores, RankLevelsByTheirAdvantages) {
  const Levels levels = Levels::list({12, 10, 11, 10});
  LevelScores scores(levels, {.temperature = 0.5, .staleness = 0.3});
  scores.note(played({10, 11, 12, 12, 10}, {1, -2, 5, -1, -1}));
  const double ranks = 1 + 1.0 / 4 + 1.0 / 9;
  auto chances = scores.chances();
  ASSERT_EQ(chances.size(), 4U);
  EXPECT_NEAR(chances[0], 1 / ranks, 1e-12);
  EXPECT_NEAR(chances[1], 1.0 / 9 / ranks, 1e-12);
  EXPECT_NEAR(chances[2], 1.0 / 4 / ranks, 1e-12);
  EXPECT_EQ(chances[3], chances[1]);  // stands there twice

  scores.note(played({11, 12}, {2, 3}));
  scores.note(played({12}, {0.5}));  // the last now
  chances = scores.chances();
  EXPECT_NEAR(chances[0], 0.7 / 9 / ranks, 1e-12);
  EXPECT_NEAR(chances[1], 0.7 / 4 / ranks + 0.3 * 2 / 3, 1e-12);
  EXPECT_NEAR(chances[2], 0.7 / ranks + 0.3 / 3, 1e-12);

  LevelScores again(levels, {.temperature = 0.5, .staleness = 0.3});
  TensorFile saved;
  saved.path = "f";
  saved.tensors = scores.save("x.");
  again.restore(saved, "x.");
  EXPECT_EQ(again.chances(), chances);
  const std::vector<double> none{1, std::nan(""), 1};
  saved.tensors[0] = StoredTensor::of<double>("x.scores", {3}, none);
  expect_user_error([&] { again.restore(saved, "x."); }, {"f: x.scores"});
  EXPECT_EQ(again.chances(), chances);
}

TEST(LevelScores, RefuseLevelsWithoutEnd) {
  expect_user_error([] { LevelScores(Levels::all(), {}); }, {"too many to choose among"});
}

// A maze that is known by heart is played less often than one that is not: with the lowest
// temperature one level has nearly all chances but for the stale ones.
TEST(LevelScores, DecideWhatIsPlayed) {
  const auto different = [](double temperature, double staleness) {
    const auto learner =
        algorithm_named("plr").make({.environment = "maze",
                                     .levels = Levels::range(0, 12),
                                     .steps = 16 * 64 * 30,
                                     .environments = 16,
                                     .seed = 2,
                                     .network = {.width = 16},
                                     .arguments = {{"rollout", 64.0},
                                                   {"minibatches", 4.0},
                                                   {"level-temperature", temperature},
                                                   {"level-staleness", staleness}}});
    learner->advance(learner->total());
    double most = 0, sum = 0;
    for (const StoredTensor& tensor : learner->tensors()) {
      if (tensor.name != "member0.player.environment.chances") continue;
      for (const double chance : tensor.values<double>()) {
        most = std::max(most, chance);
        sum += chance;
      }
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    return most;
  };
  EXPECT_GT(different(0.1, 0.0), 0.99);
  EXPECT_LT(different(1e6, 0.0), 1.01 / 12);
  EXPECT_GT(different(1e6, 1.0), 1.5 / 12);
}

}  // namespace
}  // namespace agora::agents

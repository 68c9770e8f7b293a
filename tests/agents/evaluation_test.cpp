#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "agents/evaluation/evaluate.h"
#include "base/error.h"
#include "base/rng.h"

namespace agora::agents {
namespace {

// Always the same probabilities, whatever is seen.
class Fixed : public Policy {
 public:
  Fixed(Space space, std::vector<double> probabilities)
      : space_(std::move(space)), probabilities_(std::move(probabilities)) {}
  const Space& space() const override { return space_; }
  void logits(std::span<const std::byte>, int64_t rows, std::span<float> out) override {
    for (size_t k = 0; k < static_cast<size_t>(rows) * probabilities_.size(); ++k) {
      out[k] = static_cast<float>(std::log(probabilities_[k % probabilities_.size()] + 1e-20));
    }
  }

 private:
  Space space_;
  std::vector<double> probabilities_;
};

Space space_of(const std::string& environment) {
  return make_environment(environment, {.levels = Levels::range(0, 1), .count = 1})->space();
}

// Peeking finds the otters with probability .95, an enclosure drawn at random in one of four zoos.
TEST(Evaluation, AgreesWithTheLawOfTheGame) {
  const EvaluationOptions how{.environment = "zookeeper", .episodes = 4000, .seed = 3};
  Fixed peek(space_of("zookeeper"), {0, 0, 0, 0, 1}), guess(space_of("zookeeper"), {1, 1, 1, 1, 0});
  EXPECT_NEAR(evaluate(peek, how).mean, 0.95, 5 * std::sqrt(0.95 * 0.05 / 4000));
  const Evaluation guessed = evaluate(guess, how);
  EXPECT_NEAR(guessed.mean, 0.25, 5 * std::sqrt(0.25 * 0.75 / 4000));
  EXPECT_EQ(guessed.length, 1);
  // Every zoo is another one, so that resampling levels is resampling episodes.
  const double half = 1.96 * std::sqrt(0.25 * 0.75 / 4000);
  EXPECT_NEAR(guessed.high - guessed.mean, half, 0.25 * half);
  EXPECT_NEAR(guessed.mean - guessed.low, half, 0.25 * half);
}

TEST(Evaluation, GreedyTakesTheLikeliestAction) {
  Fixed policy(space_of("zookeeper"), {0.15, 0.15, 0.15, 0.15, 0.4});
  const EvaluationOptions drawn{.environment = "zookeeper", .episodes = 2000, .seed = 1};
  EvaluationOptions greedy = drawn;
  greedy.greedy = true;
  EXPECT_NEAR(evaluate(policy, drawn).mean, 0.4 * 0.95 + 0.6 * 0.25, 0.06);
  EXPECT_NEAR(evaluate(policy, greedy).mean, 0.95, 0.03);
}

// Whoever counted the episodes that end first would see the short ones more often. Some mazes have
// side 3, others 15; each has to have its share, whatever it takes.
TEST(Evaluation, LongEpisodesCountAsOften) {
  Fixed policy(space_of("maze"), std::vector<double>(15, 1.0));
  const EvaluationOptions how{.environment = "maze",
                              .levels = Levels::range(0, 30),
                              .episodes = 1500,
                              .environments = 1500,
                              .seed = 2};
  const Evaluation found = evaluate(policy, how);
  EXPECT_EQ(found.episodes, 1500);
  std::vector<int> plays(30);
  for (const int64_t level : found.levels) ++plays.at(static_cast<size_t>(level));
  double chi = 0;  // 29 degrees of freedom: above 66 once in 10,000 times
  for (const int count : plays) chi += (count - 50.0) * (count - 50.0) / 50.0;
  EXPECT_LT(chi, 66);
}

TEST(Evaluation, StaysOnTheLevelsItIsGiven) {
  Fixed policy(space_of("maze"), std::vector<double>(15, 1.0));
  const EvaluationOptions how{
      .environment = "maze", .levels = Levels::range(100, 7), .episodes = 100, .seed = 4};
  const Evaluation found = evaluate(policy, how);
  const std::set<int64_t> played(found.levels.begin(), found.levels.end());
  EXPECT_GE(*played.begin(), 100);
  EXPECT_LT(*played.rbegin(), 107);
  EXPECT_EQ(played.size(), 7U);
}

// Ten groups of equal episodes are ten values, not a thousand: the interval is that of ten.
TEST(Evaluation, IntervalsResampleWholeLevels) {
  std::vector<double> values;
  std::vector<int64_t> group;
  double square = 0;
  Rng rng(1);
  for (int64_t g = 0; g < 10; ++g) {
    const double value = rng.normal();
    square += value * value / 10;
    for (int k = 0; k < 100; ++k) {
      values.push_back(value);
      group.push_back(g);
    }
  }
  double mean = 0;
  for (const double value : values) mean += value / 1000;
  const double half = 1.96 * std::sqrt((square - mean * mean) / 10);
  const auto [low, high] = bootstrap_interval(values, group, 5);
  EXPECT_NEAR(high - low, 2 * half, 0.15 * half);
  EXPECT_NEAR((high + low) / 2, mean, 0.2 * half);
}

TEST(Evaluation, AnotherSizeOfObservationsOrActionsIsTold) {
  Fixed policy(space_of("maze"), std::vector<double>(15, 1.0));
  const EvaluationOptions heist{.environment = "heist", .episodes = 1};
  EXPECT_THROW(evaluate(policy, heist), UserError);
  Space fewer = space_of("maze");
  fewer.actions = 3;
  Fixed small(fewer, {1, 1, 1});
  const EvaluationOptions maze{.environment = "maze", .episodes = 1};
  EXPECT_THROW(evaluate(small, maze), UserError);
  const EvaluationOptions none{.environment = "maze", .episodes = 0};
  EXPECT_THROW(evaluate(policy, none), UserError);
}

}  // namespace
}  // namespace agora::agents

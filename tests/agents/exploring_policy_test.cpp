// Who acts: members that agree, or an explorer for some steps.
#include "agents/exploring_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "agents/algorithm.h"
#include "agents/evaluation/evaluate.h"
#include "agents/ppo_ensemble.h"
#include "agents/traces.h"
#include "base/thread_pool.h"

namespace agora::agents {
namespace {

const ObservationSpace kPixel{.type = ObservationSpace::Type::kByte, .shape = {1, 1, 1}};

// Does what the table says of the last byte of what it sees.
class Table : public Policy {
 public:
  Table(const ObservationSpace& space, std::map<int, std::vector<float>> logits)
      : space_{.observation = space, .actions = 3}, logits_(std::move(logits)) {}
  const Space& space() const override { return space_; }
  void logits(std::span<const std::byte> seen, int64_t rows, std::span<float> out) override {
    const auto bytes = static_cast<size_t>(space_.observation.bytes());
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      const auto& chosen = logits_.at(std::to_integer<int>(seen[(row + 1) * bytes - 1]));
      std::copy(chosen.begin(), chosen.end(), out.begin() + static_cast<int64_t>(3 * row));
    }
  }

 private:
  Space space_;
  std::map<int, std::vector<float>> logits_;
};

const std::vector<float> kLeft{5, 0, 0}, kRight{0, 0, 5}, kExplorer{1, 2, 3}, kFurther{7, 8, 9};

// At 0 two members agree, at 9 they do not. The explorer tells whether 9 was seen in the episode.
std::unique_ptr<Policy> two_members(int64_t rows, const Exploration& how) {
  std::vector<std::unique_ptr<Policy>> members;
  members.push_back(
      std::make_unique<Table>(kPixel, std::map<int, std::vector<float>>{{0, kLeft}, {9, kLeft}}));
  members.push_back(
      std::make_unique<Table>(kPixel, std::map<int, std::vector<float>>{{0, kLeft}, {9, kRight}}));
  auto explorer = std::make_unique<Table>(
      with_trace(kPixel), std::map<int, std::vector<float>>{{0, kExplorer}, {9, kFurther}});
  return exploring(std::move(members), Link::kMax, std::move(explorer), rows, how);
}

std::vector<float> done(Policy& policy, const std::vector<int>& seen) {
  std::vector<std::byte> bytes;
  for (const int each : seen) bytes.push_back(static_cast<std::byte>(each));
  std::vector<float> logits(3 * seen.size());
  policy.logits(bytes, std::ssize(seen), logits);
  return logits;
}

TEST(Agreement, IsOfLikeliestActions) {
  const std::vector<float> one{0.2F, 0.5F, 0.3F};
  EXPECT_EQ(agreement(one, 1), 1);
  const std::vector<float> four{0.2F, 0.5F, 0.3F, 0.3F, 0.4F, 0.3F,
                                0.1F, 0.1F, 0.8F, 0.0F, 0.9F, 0.1F};
  EXPECT_EQ(agreement(four, 4), 0.75);
  EXPECT_EQ(agreement(std::span(four).subspan(3, 6), 2), 0.5);
}

TEST(ExploringPolicies, FollowMembersThatAgree) {
  const auto policy = two_members(2, {.agree = 1, .steps = 1});
  EXPECT_EQ(policy->space().observation, kPixel);
  std::vector<float> probabilities = kLeft, linked(3);
  to_probabilities(probabilities);
  link_logits(Link::kMax, probabilities, linked);
  for (int step = 0; step < 3; ++step) {
    const auto found = done(*policy, {0, 0});
    for (size_t k = 0; k < 6; ++k) EXPECT_FLOAT_EQ(found[k], linked[k % 3]);
  }
}

TEST(ExploringPolicies, LeaveTheRestToAnExplorer) {
  const auto policy = two_members(2, {.agree = 1, .steps = 1});
  const auto row = [](const std::vector<float>& both, size_t at) {
    const auto first = both.begin() + static_cast<int64_t>(3 * at);
    return std::vector<float>(first, first + 3);
  };
  done(*policy, {0, 0});
  const auto found = done(*policy, {9, 0});  // a row of its own each
  EXPECT_EQ(row(found, 0), kFurther);
  EXPECT_NE(row(found, 1), kExplorer);
  EXPECT_NE(row(done(*policy, {0, 0}), 0), kFurther);  // one step only
  policy->forget(0);
  EXPECT_EQ(row(done(*policy, {9, 0}), 0), kExplorer);  // the trace is of the episode
  // Any share is enough for those who ask for none.
  const auto agreeable = two_members(1, {.agree = 0, .steps = 1});
  EXPECT_NE(done(*agreeable, {9}), kExplorer);
}

// Where members agree again the explorer goes on, for a geometric number of steps, and not beyond
// the episode.
TEST(ExploringPolicies, ExploreForSomeSteps) {
  const int64_t rows = 500;
  const double mean = 4;
  const auto policy = two_members(rows, {.agree = 1, .steps = mean});
  const auto all = [&](int seen) {
    const auto logits = done(*policy, std::vector<int>(static_cast<size_t>(rows), seen));
    std::vector<bool> explores;
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      explores.push_back(logits[3 * row + 1] > 0);  // the linked members' is below
    }
    return explores;
  };
  double steps = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<bool> going = all(9);
    EXPECT_EQ(std::count(going.begin(), going.end(), true), rows);
    steps += static_cast<double>(rows);
    for (int step = 0; step < 400; ++step) {
      const std::vector<bool> now = all(0);
      for (size_t row = 0; row < now.size(); ++row) EXPECT_LE(now[row], going[row]);
      going = now;
      steps += static_cast<double>(std::count(now.begin(), now.end(), true));
    }
  }
  const double deviation = std::sqrt(mean * (mean - 1) / (20.0 * static_cast<double>(rows)));
  EXPECT_NEAR(steps / (20.0 * static_cast<double>(rows)), mean, 5 * deviation);
  all(9);
  for (int64_t row = 0; row < rows; ++row) policy->forget(row);
  const std::vector<bool> after = all(0);
  EXPECT_EQ(std::count(after.begin(), after.end(), true), 0);
}

AgentOptions small() {
  return {.environment = "maze",
          .levels = Levels::range(0, 5),
          .steps = 1000,
          .environments = 9,
          .seed = 3,
          .network = {.width = 16},
          .arguments = {{"members", 2.0}, {"rollout", 32.0}, {"minibatches", 4.0}, {"agree", 1.0}}};
}

// All that play share the environments, and all their steps count.
TEST(Explorers, ShareTheBudget) {
  const auto with = algorithm_named("leep-expgen").make(small());
  AgentOptions fewer = small();
  fewer.arguments.erase("agree");
  fewer.environments = 6;
  const auto without = algorithm_named("leep").make(fewer);
  EXPECT_EQ(with->total(), 4);  // of 3 times 3 environments by 32 steps
  for (int k = 0; k < 3; ++k) {
    with->advance(1);
    without->advance(1);
  }
  EXPECT_EQ(with->environment_steps(), 3 * 9 * 32);
  EXPECT_EQ(without->environment_steps(), 3 * 6 * 32);
  // The members learn as if there were no explorer.
  const SavedPolicy one = with->policy(), other = without->policy();
  ASSERT_EQ(one.members.size(), other.members.size());
  for (size_t m = 0; m < one.members.size(); ++m) {
    for (size_t k = 0; k < one.members[m].size(); ++k) {
      EXPECT_EQ(one.members[m][k].bytes, other.members[m][k].bytes);
    }
  }
  EXPECT_EQ(one.exploration.agree, 1);
  EXPECT_FALSE(one.explorer.empty());
  EXPECT_TRUE(other.explorer.empty());
  const auto numbers = with->numbers();
  EXPECT_EQ(numbers.back().first, "novelty");
  EXPECT_GT(numbers.back().second, 0);
}

TEST(Explorers, AreDeployedTheSameForAnyNumberOfThreads) {
  const auto learner = algorithm_named("leep-expgen").make(small());
  learner->advance(2);
  const SavedPolicy saved = learner->policy();
  const EvaluationOptions how{.environment = "maze", .episodes = 64, .seed = 2};
  const int before = default_pool().threads();
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 3}) {
    set_default_threads(threads);
    found.push_back(evaluate(*make_policy(saved, how.environments), how).returns);
  }
  set_default_threads(before);
  EXPECT_EQ(found[0], found[1]);
}

// Finding what is new is learned: more of the maze is seen than by chance, soon.
TEST(Explorers, LearnToSeeWhatIsNew) {
  AgentOptions options = small();
  options.environments = 32;
  options.steps = 200'000;
  options.network.width = 32;
  options.arguments.insert_or_assign("members", 1.0);
  const auto learner = algorithm_named("expgen").make(options);
  const auto novelty = [&] {
    learner->numbers();
    learner->advance(learner->total() / 8);
    return learner->numbers().back().second;
  };
  const double before = novelty();
  learner->advance(learner->total() * 6 / 8);
  EXPECT_GT(novelty(), 1.5 * before) << before;
}

}  // namespace
}  // namespace agora::agents

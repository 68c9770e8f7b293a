#include "agents/ppo.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agents/algorithm.h"
#include "agents/evaluation/evaluate.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "support/scratch.h"

namespace agora::agents {
namespace {

// The definition: the sum of (discount lambda)^k times the one-step errors that follow.
TEST(Advantages, AreTheSumsOfTheirDefinition) {
  constexpr int64_t kSteps = 12, kCount = 3;
  constexpr double kDiscount = 0.9, kLambda = 0.7;
  Rollout rollout;
  rollout.steps = kSteps;
  rollout.count = kCount;
  Rng rng(3);
  for (int64_t k = 0; k < kSteps * kCount; ++k) {
    rollout.rewards.push_back(static_cast<float>(rng.normal()));
    rollout.values.push_back(static_cast<float>(rng.normal()));
    const double u = rng.uniform();
    rollout.ends.push_back(u < 0.15 ? End::kTerminated : u < 0.3 ? End::kCutOff : End::kNone);
    const bool cut = rollout.ends.back() == End::kCutOff;
    rollout.after.push_back(cut ? static_cast<float>(rng.normal()) : 0.0F);
  }
  for (int64_t e = 0; e < kCount; ++e) {
    rollout.last_values.push_back(static_cast<float>(rng.normal()));
  }
  rollout.advantages.resize(rollout.rewards.size());
  rollout.returns.resize(rollout.rewards.size());
  estimate_advantages(rollout, kDiscount, kLambda);
  for (int64_t e = 0; e < kCount; ++e) {
    for (int64_t t = 0; t < kSteps; ++t) {
      double expected = 0, weight = 1;
      for (int64_t k = t; k < kSteps; ++k) {
        const auto at = static_cast<size_t>(k * kCount + e);
        double next = k + 1 < kSteps ? rollout.values[at + kCount]
                                     : rollout.last_values[static_cast<size_t>(e)];
        if (rollout.ends[at] == End::kTerminated) next = 0;
        if (rollout.ends[at] == End::kCutOff) next = rollout.after[at];
        expected += weight * (rollout.rewards[at] + kDiscount * next - rollout.values[at]);
        if (rollout.ends[at] != End::kNone) break;
        weight *= kDiscount * kLambda;
      }
      const auto at = static_cast<size_t>(t * kCount + e);
      EXPECT_NEAR(rollout.advantages[at], expected, 1e-5) << t << " " << e;
      EXPECT_NEAR(rollout.returns[at], expected + rollout.values[at], 1e-5);
    }
  }
}

// Rewards of 1 in every step of endless episodes: returns approach 1 / (1 - discount), and what is
// left of a reward is 1 over the deviation of all returns so far, computed here in two passes.
TEST(RewardScale, DividesByTheDeviationOfReturns) {
  RewardScale scale(2, 0.5);
  std::vector<double> seen;
  double first = 0, second = 0;
  for (int step = 0; step < 50; ++step) {
    std::vector<float> rewards{1, static_cast<float>(step % 3)};
    const std::vector<End> ends{End::kNone, step % 7 == 6 ? End::kTerminated : End::kNone};
    first = 0.5 * first + 1;
    second = 0.5 * second + step % 3;
    seen.insert(seen.end(), {first, second});
    scale.apply(rewards, ends);
    if (ends[1] != End::kNone) second = 0;
    double mean = 0, variance = 0;
    for (const double each : seen) mean += each / static_cast<double>(seen.size());
    for (const double each : seen) {
      variance += (each - mean) * (each - mean) / static_cast<double>(seen.size());
    }
    if (step > 5) {
      EXPECT_NEAR(rewards[0], 1 / std::sqrt(variance), 1e-3) << step;
    }
  }
}

TEST(Link, TakesTheLargestOrTheMean) {
  const std::vector<float> two{0.7F, 0.2F, 0.1F, 0.1F, 0.6F, 0.3F};
  std::vector<float> logits(3);
  link_logits(Link::kMax, two, logits);
  EXPECT_NEAR(std::exp(logits[0]) / std::exp(logits[1]), 0.7 / 0.6, 1e-5);
  EXPECT_NEAR(std::exp(logits[2]) / std::exp(logits[1]), 0.3 / 0.6, 1e-5);
  link_logits(Link::kAverage, two, logits);
  EXPECT_NEAR(std::exp(logits[0]) / std::exp(logits[1]), 0.8 / 0.8, 1e-5);
  EXPECT_NEAR(std::exp(logits[2]) / std::exp(logits[1]), 0.4 / 0.8, 1e-5);
}

AgentOptions tiny(const std::string& environment, const Algorithm& algorithm) {
  AgentOptions options{.environment = environment,
                       .levels = Levels::range(0, 5),
                       .steps = 4096,
                       .environments = 8,
                       .seed = 3,
                       .network = {.width = 16}};
  const Arguments small{{"rollout", 32.0}, {"minibatches", 4.0}, {"batch", 16.0}};
  for (const auto& [name, value] : small) {
    if (find(algorithm.parameters, name) != nullptr) options.arguments.emplace(name, value);
  }
  return options;
}

std::vector<char> bytes_of(const std::vector<StoredTensor>& tensors) {
  std::vector<char> all;
  for (const StoredTensor& each : tensors)
    all.insert(all.end(), each.bytes.begin(), each.bytes.end());
  return all;
}

class Algorithms : public ::testing::TestWithParam<std::string> {};

TEST_P(Algorithms, GoOnWithTheSameBits) {
  const Algorithm& algorithm = algorithm_named(GetParam());
  const AgentOptions options = tiny("maze", algorithm);
  const auto whole = algorithm.make(options), before = algorithm.make(options);
  whole->advance(4);
  before->advance(1);
  before->advance(1);
  Checkpoint saved;
  saved.tensors.tensors = before->tensors();
  const auto after = algorithm.make(options);
  after->restore(saved);
  EXPECT_EQ(after->step(), 2);
  after->advance(2);
  EXPECT_EQ(bytes_of(after->tensors()), bytes_of(whole->tensors()));
  EXPECT_EQ(after->numbers(), whole->numbers());
}

TEST_P(Algorithms, AreTheSameForAnyNumberOfThreads) {
  const Algorithm& algorithm = algorithm_named(GetParam());
  const int before = default_pool().threads();
  std::vector<std::vector<char>> found;
  for (const int threads : {1, 3}) {
    set_default_threads(threads);
    const auto learner = algorithm.make(tiny("maze", algorithm));
    learner->advance(3);
    found.push_back(bytes_of(learner->tensors()));
  }
  set_default_threads(before);
  EXPECT_EQ(found[0], found[1]);
}

TEST_P(Algorithms, PoliciesAreKeptInFiles) {
  const Scratch scratch;
  const Algorithm& algorithm = algorithm_named(GetParam());
  const auto learner = algorithm.make(tiny("heist", algorithm));
  learner->advance(1);
  const SavedPolicy made = learner->policy();
  save_policy(scratch / "p.safetensors", made);
  const auto again = make_policy(load_policy(scratch / "p.safetensors"), 8);
  const auto direct = make_policy(made, 8);
  const auto env = make_environment("heist", {.count = 8});
  std::vector<float> one(static_cast<size_t>(8 * made.space.actions)), two = one;
  again->logits(env->observations(), 8, one);
  direct->logits(env->observations(), 8, two);
  EXPECT_EQ(one, two);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& each : algorithms()) all.push_back(each.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, Algorithms, ::testing::ValuesIn(names()));

}  // namespace
}  // namespace agora::agents

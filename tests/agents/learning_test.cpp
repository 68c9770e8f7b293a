// Learners against what they should reach: closed forms, the planner, and each other.
#include <agora/agents.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "agents/algorithm.h"
#include "agents/context.h"
#include "agents/distilled.h"
#include "agents/evaluation/evaluate.h"
#include "agents/evaluation/watch.h"
#include "agents/ppo_ensemble.h"
#include "base/error.h"
#include "base/files.h"
#include "support/scratch.h"

namespace agora::agents {
namespace {

Evaluation earned(const SavedPolicy& policy, const std::string& environment, const Levels& levels,
                  int64_t episodes, const Arguments& arguments = {}) {
  const EvaluationOptions how{.environment = environment,
                              .environment_arguments = arguments,
                              .levels = levels,
                              .episodes = episodes,
                              .seed = 5};
  return evaluate(*make_policy(policy, how.environments), how);
}

double number_of(AgentLearner& learner, const std::string& name) {
  for (const auto& [key, value] : learner.numbers()) {
    if (key == name) return value;
  }
  throw std::logic_error(name);
}

AgentOptions few_mazes(int64_t steps, Arguments arguments = {}) {
  arguments.insert({{"rollout", 64.0}, {"minibatches", 4.0}});
  return {.environment = "maze",
          .levels = Levels::range(0, 4),
          .steps = steps,
          .environments = 16,
          .seed = 1,
          .network = {.width = 32},
          .arguments = arguments};
}

// Four mazes are soon known by heart: the way to the goal gets short.
TEST(Learning, PpoLearnsAFewMazes) {
  const auto learner = algorithm_named("ppo").make(few_mazes(120'000));
  const double before = earned(learner->policy(), "maze", Levels::range(0, 4), 200).length;
  learner->advance(learner->total());
  const double after = earned(learner->policy(), "maze", Levels::range(0, 4), 200).length;
  EXPECT_LT(after, 0.6 * before) << before;  // 0.4 more or less, by the machine's rounding
}

// A strong pull leaves less divergence than a weak one, and none is reported without.
TEST(Learning, APenaltyDrawsMembersTogether) {
  double last = 1e9;
  for (const double penalty : {0.01, 1.0, 100.0}) {
    const auto learner =
        algorithm_named("leep").make(few_mazes(40'000, {{"members", 2.0}, {"penalty", penalty}}));
    learner->advance(learner->total() - 1);
    learner->numbers();
    learner->advance(1);
    const double now = number_of(*learner, "disagreement");
    EXPECT_LT(now, 0.7 * last) << penalty;
    EXPECT_GE(now, 0) << penalty;
    last = now;
  }
}

// Bootstrap samples differ and miss about a share 1/e of the levels; parts have none in common.
TEST(Learning, MembersHaveLevelsOfTheirOwn) {
  const AgentOptions agent{.environment = "maze", .levels = Levels::range(0, 1000)};
  const auto different = [&](EnsembleOptions::Levels kind, int64_t member) {
    EnsembleOptions how;
    how.members = 4;
    how.levels = kind;
    const Levels own = member_levels(agent, how, member);
    std::set<int64_t> found;
    for (int64_t k = 0; k < own.size(); ++k) found.insert(own[k]);
    return found;
  };
  using Kind = EnsembleOptions::Levels;
  std::set<int64_t> all;
  for (int64_t member = 0; member < 4; ++member) {
    const auto sample = different(Kind::kBootstrap, member);
    EXPECT_NEAR(static_cast<double>(sample.size()), 632, 60);  // six deviations
    EXPECT_NE(sample, different(Kind::kBootstrap, (member + 1) % 4));
    const auto part = different(Kind::kParts, member);
    EXPECT_EQ(part.size(), 250U);
    all.insert(part.begin(), part.end());
    EXPECT_EQ(different(Kind::kAll, member).size(), 1000U);
  }
  EXPECT_EQ(all.size(), 1000U);
}

// What is handed out: the maximum of LEEP's members, the mean of an ensemble's, one imitator.
TEST(Learning, EnsemblesAreDeployedAsTheirKind) {
  const auto policy = [](const std::string& algorithm, Arguments arguments = {}) {
    arguments.insert({{"members", 3.0}});
    AgentOptions options = few_mazes(1000, arguments);
    options.environments = 6;
    options.levels = Levels::range(0, 6);
    return algorithm_named(algorithm).make(options)->policy();
  };
  EXPECT_EQ(policy("leep").link, Link::kMax);
  EXPECT_EQ(policy("leep").members.size(), 3U);
  EXPECT_EQ(policy("leep", {{"average", true}}).link, Link::kAverage);
  EXPECT_EQ(policy("ensemble").link, Link::kAverage);
  EXPECT_EQ(policy("ensemble").members.size(), 3U);
  EXPECT_EQ(policy("distral").members.size(), 1U);
}

// The divergence of a given policy from the imitator falls towards nothing.
// Learned alike, to the bit; what differs is what it is deployed with.
TEST(Learning, AMemoryIsDeployedNotLearned) {
  const AgentOptions options = few_mazes(2048, {{"members", 2.0}});
  AgentOptions remembers = options;
  remembers.arguments.insert({{"recall", 0.25}, {"recall-radius", 0.5}});
  const auto plain = algorithm_named("leep").make(options);
  const auto with = algorithm_named("leep-memory").make(remembers);
  plain->advance(plain->total());
  with->advance(with->total());
  const SavedPolicy one = plain->policy(), other = with->policy();
  EXPECT_EQ(one.memory.cost, 0);
  EXPECT_EQ(other.memory.cost, 0.25);
  EXPECT_EQ(other.memory.radius, 0.5);
  ASSERT_EQ(one.members.size(), other.members.size());
  for (size_t m = 0; m < one.members.size(); ++m) {
    for (size_t k = 0; k < one.members[m].size(); ++k) {
      EXPECT_EQ(one.members[m][k].bytes, other.members[m][k].bytes);
    }
  }
}

TEST(Learning, AnImitatorApproachesWhatItImitates) {
  const Space space{.observation = {ObservationSpace::Type::kByte, {4}}, .actions = 3};
  const PpoOptions options{.epochs = 3, .minibatches = 2, .rate = 1e-2};
  DistilledPolicy imitator(space, {.kind = "mlp", .width = 16}, options, false, 8, 64);
  imitator.initialise(1, 0);
  Rollout rollout;
  rollout.steps = 8;
  rollout.count = 8;
  std::vector<float> theirs;
  for (int k = 0; k < 64; ++k) {
    for (int i = 0; i < 4; ++i) rollout.observations.push_back(std::byte(k % 4 == i ? 255 : 0));
    for (int a = 0; a < 3; ++a) theirs.push_back(a == k % 3 ? 0.8F : 0.1F);
  }
  // Observation k % 4 is seen with actions k % 3 equally often: the best imitation is uniform.
  const double uniform = 0.8 * std::log(0.8 * 3) + 0.2 * std::log(0.1 * 3);
  double loss = 0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    loss = imitator.update(rollout, theirs, 1, 0, iteration);
  }
  EXPECT_NEAR(loss, uniform, 0.01 * uniform + 0.01);
  std::vector<float> probabilities(theirs.size());
  imitator.probabilities(rollout, probabilities);
  for (const float each : probabilities) EXPECT_NEAR(each, 1.0 / 3, 0.05);
}

TEST(Learning, AnEncoderTellsTheTrainingLevels) {
  const auto learner = algorithm_named("ppo-context").make(few_mazes(60'000, {{"context", 32.0}}));
  learner->advance(1);
  EXPECT_LT(number_of(*learner, "level_accuracy"), 0.8);
  learner->advance(learner->total() - 2);
  learner->numbers();
  learner->advance(1);
  EXPECT_GT(number_of(*learner, "level_accuracy"), 0.97);
}

// What a policy with a memory does depends on what it saw, and not on another episode.
TEST(Learning, AMemoryEndsWithItsEpisode) {
  const auto learner = algorithm_named("ppo-context").make(few_mazes(20'000));
  learner->advance(2);
  const auto policy = make_policy(learner->policy(), 1);
  const auto env = make_environment("maze", {.levels = Levels::range(0, 1), .count = 1});
  std::vector<float> first(15), second(15), third(15);
  policy->forget(0);
  policy->logits(env->observations(), 1, first);
  policy->logits(env->observations(), 1, second);
  EXPECT_NE(first, second);
  policy->forget(0);
  policy->logits(env->observations(), 1, third);
  EXPECT_EQ(first, third);
}

// Watching plays the same levels and says what was earned.
TEST(Learning, WatchingShowsEveryStep) {
  const auto env = make_environment("maze", {.levels = Levels::range(3, 1), .count = 1});
  const auto policy = random_policy(env->space());
  int64_t shown = 0;
  const EvaluationOptions how{
      .environment = "maze", .levels = Levels::range(3, 1), .episodes = 2, .seed = 7};
  const auto episodes =
      watch(*policy, how, [&](const Environment::Picture& picture, const Episode& now) {
        EXPECT_EQ(picture.rgb.size(), static_cast<size_t>(picture.height * picture.width * 3));
        EXPECT_EQ(now.level, 3);
        ++shown;
      });
  ASSERT_EQ(episodes.size(), 2U);
  EXPECT_EQ(shown, episodes[0].steps + episodes[1].steps);
  for (const Episode& each : episodes) {
    EXPECT_EQ(each.earned, each.cut_off ? 0 : 10);
    EXPECT_LE(each.steps, 500);
  }
}

// The library's door: stopped and gone on with, it ends with the same bits.
TEST(Learning, OfTheLibraryGoesOnFromItsCheckpoint) {
  const Scratch scratch;
  Learning how{.algorithm = "leep",
               .arguments = {{"members", 2}, {"rollout", 32}, {"minibatches", 4}},
               .levels = 5,
               .steps = 4096,
               .environments = 8,
               .width = 16};
  const auto whole = learn(how);
  how.checkpoint = (scratch / "state.safetensors").string();
  int64_t reports = 0;
  how.progress = [&](const LearningProgress& now) {
    EXPECT_EQ(now.total, 4096);
    return ++reports < 3;
  };
  learn(how);
  EXPECT_EQ(reports, 3);
  how.progress = {};
  const auto again = learn(how);
  whole->save((scratch / "whole").string());
  again->save((scratch / "again").string());
  EXPECT_EQ(read_file(scratch / "whole"), read_file(scratch / "again"));
  const auto loaded = load_agent((scratch / "again").string());
  const std::vector<std::byte> observation(static_cast<size_t>(loaded->observation_bytes()));
  const auto probabilities = loaded->probabilities(observation);
  EXPECT_NEAR(std::accumulate(probabilities.begin(), probabilities.end(), 0.0), 1, 1e-12);
  EXPECT_EQ(probabilities, whole->probabilities(observation));
  EXPECT_EQ(returns(*loaded, {.episodes = 20}).each, returns(*whole, {.episodes = 20}).each);
  how.seed = 1;
  EXPECT_THROW(learn(how), UserError);  // the checkpoint is of another seed
  EXPECT_THROW(loaded->probabilities({}), UserError);
}

TEST(Learning, MistakesAreToldInOneLine) {
  const auto refuses = [](const std::string& algorithm, AgentOptions options,
                          const std::string& words) {
    try {
      algorithm_named(algorithm).make(options);
      ADD_FAILURE() << words;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  AgentOptions options = few_mazes(1000, {{"members", 8.0}});
  options.environments = 8;
  refuses("distral", options, "cannot be shared out among 8 members");
  options = few_mazes(1000, {{"chunk", 7.0}});
  refuses("ppo-context", options, "chunks of 7");
  options = few_mazes(1000);
  options.levels = Levels::all();
  refuses("ppo-context", options, "tells levels apart");
  EXPECT_THROW(algorithm_named("pp"), UserError);
}

}  // namespace
}  // namespace agora::agents

#include <agora/planning/load.h>
#include <agora/planning/solve.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <map>

#include "agents/algorithm.h"
#include "agents/evaluation/evaluate.h"
#include "agents/players.h"
#include "agents/q_networks.h"
#include "base/signals.h"

namespace agora::agents {
namespace {

using Table = std::vector<double>;

// Values without hidden layers: a weight for each state and action, and a bias for each action.
constexpr int kStates = 3, kActions = 2;
Space table_space() {
  Space space;
  space.observation.shape = {kStates};
  space.actions = kActions;
  return space;
}

struct Linear {
  Table weight, bias;  // (states, actions), (actions)
  double operator()(int state, int action) const {
    return weight[static_cast<size_t>(state * kActions + action)] +
           bias[static_cast<size_t>(action)];
  }
};

Linear linear_of(const compute::Variables& variables, const std::string& name) {
  return {variables.get(name + ".values.weight"), variables.get(name + ".values.bias")};
}

// One update, recomputed: what both networks are told, the loss, its gradient and where the target
// networks go.
TEST(QNetworks, LearnTheLesserOfTwoTargets) {
  constexpr double kDiscount = 0.8, kFollow = 0.25;
  constexpr int kBatch = 4;
  QNetworks networks(table_space(), {.kind = "mlp", .layers = 0},
                     {.rate = 1e-2, .discount = kDiscount, .follow = kFollow, .batch = kBatch},
                     true, 1);
  networks.initialise(5);
  compute::Variables& variables = networks.variables();
  Rng rng(9);
  for (const std::string& name : variables.names()) {
    if (name.starts_with("adam")) continue;
    Table values(static_cast<size_t>(variables.count(name)));
    for (double& each : values) each = static_cast<float>(rng.normal());
    variables.set(name, values);
  }
  const std::string names[] = {"first.policy", "second.policy"};
  Linear own[2], slow[2];
  for (int k = 0; k < 2; ++k) {
    own[k] = linear_of(variables, names[k]);
    slow[k] = linear_of(variables, "target." + names[k]);
  }
  const int seen[kBatch] = {0, 1, 2, 1}, next[kBatch] = {1, 2, 0, 0}, action[kBatch] = {1, 0, 1, 1};
  const bool goes_on[kBatch] = {true, true, false, true};
  const uint8_t allowed[kBatch][kActions] = {{1, 1}, {0, 1}, {1, 1}, {1, 0}};
  TransitionBatch batch(table_space(), true, kBatch);
  double target[kBatch], loss = 0;
  bool disagree = false;
  Table gradient(kStates * kActions);  // of the first network's weights
  for (int row = 0; row < kBatch; ++row) {
    batch.seen[static_cast<size_t>(row * kStates + seen[row])] = std::byte{255};
    batch.next[static_cast<size_t>(row * kStates + next[row])] = std::byte{255};
    batch.actions[static_cast<size_t>(row)] = action[row];
    batch.rewards[static_cast<size_t>(row)] = static_cast<float>(row) - 1.5F;
    batch.goes_on[static_cast<size_t>(row)] = goes_on[row] ? 1.0F : 0.0F;
    double best = -1e9;
    for (int a = 0; a < kActions; ++a) {
      batch.masks[static_cast<size_t>(row * kActions + a)] = allowed[row][a];
      const double both[] = {slow[0](next[row], a), slow[1](next[row], a)};
      disagree = disagree || both[1] < both[0];
      if (allowed[row][a] != 0) best = std::max(best, std::min(both[0], both[1]));
    }
    target[row] = row - 1.5 + (goes_on[row] ? kDiscount * best : 0);
    for (int k = 0; k < 2; ++k) {
      const double error = own[k](seen[row], action[row]) - target[row];
      loss += 0.5 * error * error / kBatch;
      if (k == 0)
        gradient[static_cast<size_t>(seen[row] * kActions + action[row])] += error / kBatch;
    }
  }
  ASSERT_TRUE(disagree);
  EXPECT_NEAR(networks.update(batch), loss, 1e-5);
  const std::vector<float> found = networks.targets();
  for (size_t row = 0; row < kBatch; ++row) EXPECT_NEAR(found[row], target[row], 1e-5) << row;
  const Table moment = variables.get("adam.first.first.policy.values.weight");
  for (size_t k = 0; k < moment.size(); ++k) EXPECT_NEAR(moment[k], 0.1 * gradient[k], 1e-6) << k;
  for (int k = 0; k < 2; ++k) {
    const Linear after = linear_of(variables, "target." + names[k]);
    for (size_t i = 0; i < after.weight.size(); ++i) {
      EXPECT_NEAR(after.weight[i],
                  slow[k].weight[i] + kFollow * (own[k].weight[i] - slow[k].weight[i]), 1e-6);
    }
  }
  // What acts is the lesser of both as they are now.
  std::vector<float> values(kActions);
  std::vector<std::byte> state(kStates);
  state[1] = std::byte{255};
  networks.values(state, 1, values);
  const Linear now[] = {linear_of(variables, names[0]), linear_of(variables, names[1])};
  for (int a = 0; a < kActions; ++a) {
    EXPECT_NEAR(values[static_cast<size_t>(a)], std::min(now[0](1, a), now[1](1, a)), 1e-5);
  }
}

TEST(Replay, KeepsTheLatest) {
  const Space space = table_space();
  Replay replay(space, false, 4);
  std::vector<std::byte> seen(kStates), next(kStates);
  for (int k = 0; k < 7; ++k) {
    seen[0] = static_cast<std::byte>(k);
    next[0] = static_cast<std::byte>(k + 1);
    replay.add({.seen = seen,
                .action = k % 2,
                .reward = static_cast<float>(k),
                .goes_on = k != 5,
                .next = next,
                .mask = {}});
  }
  ASSERT_EQ(replay.size(), 4);
  TensorFile saved;
  saved.tensors = replay.save("m.");
  Replay again(space, false, 4);
  again.restore(saved, "m.");
  std::map<int, int> rewards;
  for (int64_t k = 0; k < 4; ++k) {
    for (const Replay* each : {&replay, &again}) {
      const Transition one = (*each)[k];
      const int number = static_cast<int>(one.reward);
      EXPECT_EQ(one.seen[0], static_cast<std::byte>(number));
      EXPECT_EQ(one.next[0], static_cast<std::byte>(number + 1));
      EXPECT_EQ(one.action, number % 2);
      EXPECT_EQ(one.goes_on, number != 5);
      ++rewards[number];
    }
  }
  EXPECT_EQ(rewards, (std::map<int, int>{{3, 2}, {4, 2}, {5, 2}, {6, 2}}));
  const auto one_more = [&](Replay& memory) {
    memory.add({.seen = seen, .action = 0, .reward = 9, .next = next, .mask = {}});
    return memory.save("m.")[4].bytes;  // rewards
  };
  EXPECT_EQ(one_more(again), one_more(replay));
  std::vector<int32_t> wrong{0, 1, 2, 0};
  saved.tensors[3] = StoredTensor::of<int32_t>("m.actions", {4}, wrong);
  expect_user_error([&] { again.restore(saved, "m."); }, {"m.actions has 2", "0 to 1"});
  Replay smaller(space, false, 3);
  expect_user_error([&] { smaller.restore(saved, "m."); }, {"m.seen"});
}

// A loop, a detour, a mask, and an end with a reward of its own; deterministic, so that learning
// with a constant rate comes to rest where the planner's values are.
const char* const kModel =
    "state,action,next_state,probability,reward\n"
    "a,go,b,1,-1\na,stay,a,1,-.3\n"
    "b,go,c,1,-2\nb,stay,d,1,-.5\n"
    "c,go,end,1,3\n"
    "d,go,a,1,1\nd,stay,end,1,.5\n";

AgentOptions on_model(const std::filesystem::path& file, double discount) {
  return {
      .environment = "tabular",
      .environment_arguments = {{"model", file.string()}, {"discount", discount}, {"limit", 40}},
      .levels = Levels::range(0, 1),
      .environments = 16,
      .seed = 4,
      .network = {.kind = "mlp", .layers = 0},
      .arguments = {{"discount", discount}}};
}

// Q(s, a) of a kept policy without hidden layers, the lesser of both members.
double kept_value(const SavedPolicy& policy, int64_t state, int64_t action) {
  double least = 1e300;
  for (const auto& member : policy.members) {
    TensorFile file;
    file.tensors = member;
    const auto weight = file.at("policy.values.weight").values<double>();
    const auto bias = file.at("policy.values.bias").values<double>();
    least = std::min(least, weight[static_cast<size_t>(state * policy.space.actions + action)] +
                                bias[static_cast<size_t>(action)]);
  }
  return least;
}

TEST(Dqn, ComesToThePlannersValues) {
  constexpr double kDiscount = 0.9;
  const Scratch scratch;
  const auto file = scratch.put("loop.csv", kModel);
  for (const bool prefill : {false, true}) {
    AgentOptions options = on_model(file, kDiscount);
    options.steps = 40'000;
    options.arguments.merge(Arguments{{"rate", 0.01},
                                      {"epsilon", 1.0},
                                      {"follow", 0.05},
                                      {"batch", 32.0},
                                      {"memory", 500.0},
                                      {"updates", 2.0},
                                      {"prefill", prefill}});
    const auto learner = algorithm_named("dqn").make(options);
    learner->advance(learner->total());
    const SavedPolicy policy = learner->policy();
    const planning::Model model = planning::load(file.string());
    const planning::Solution best = planning::ValueIteration{.discount = kDiscount}(model);
    int compared = 0;
    for (planning::State s = 0; s < model.states(); ++s) {
      for (planning::Action a = 0; a < model.actions(); ++a) {
        if (model.terminal(s) || !model.has(s, a)) continue;
        const auto to = model.transition(s, a, 0);
        const double value =
            to.reward + kDiscount * (model.terminal(to.next)
                                         ? model.terminal_reward(to.next)
                                         : best.value[static_cast<size_t>(to.next)]);
        EXPECT_NEAR(kept_value(policy, s, a), value, 0.01) << s << " " << a;
        ++compared;
      }
    }
    EXPECT_EQ(compared, 7);
    // And so the policy that is kept earns the optimum, drawn or not.
    const auto actor = make_policy(policy, 4);
    for (const bool greedy : {false, true}) {
      const Evaluation found =
          evaluate(*actor, {.environment = "tabular",
                            .environment_arguments = {{"model", file.string()}, {"limit", 40}},
                            .levels = Levels::range(0, 1),
                            .episodes = 20,
                            .environments = 4,
                            .greedy = greedy});
      double earned = 0;  // without a discount, along the planner's way
      planning::State s = model.start()[0].state;
      for (int step = 0; step < 40 && !model.terminal(s); ++step) {
        const auto to = model.transition(s, best.policy.best(s), 0);
        earned += to.reward;
        s = to.next;
      }
      EXPECT_NEAR(found.mean, earned, 1e-4);
    }
  }
}

TEST(Dqn, KeepsASoftmaxIfToldATemperature) {
  std::vector<float> values{1, 3, 2};
  value_logits(0.5, values);
  EXPECT_NEAR(values[0] - values[2], -2, 1e-6);
  EXPECT_NEAR(values[1] - values[2], 2, 1e-6);
  // Greedy however small the differences are, and among what a mask leaves.
  std::vector<float> close{1e-6F, 3e-6F, 2e-6F, 3e-6F};
  value_logits(0, close);
  EXPECT_EQ(close[1], 0);
  EXPECT_LT(close[3], -500);
  close[1] += -1e9F;
  close[3] += -1e9F;
  EXPECT_LT(close[0] - close[2], -500);
}

// A signal in the middle leaves the learner as it was after a whole iteration.
TEST(Dqn, IsLeftWholeByASignal) {
  const Scratch scratch;
  AgentOptions options = on_model(scratch.put("loop.csv", kModel), 0.9);
  options.steps = 10'000;
  options.arguments.emplace("batch", 16.0);
  const auto stopped = algorithm_named("dqn").make(options);
  const auto whole = algorithm_named("dqn").make(options);
  const auto bytes = [](const AgentLearner& learner) {
    std::vector<char> all;
    for (const StoredTensor& each : learner.tensors())
      all.insert(all.end(), each.bytes.begin(), each.bytes.end());
    return all;
  };
  stopped->advance(3);
  whole->advance(3);
  request_stop(SIGINT);
  EXPECT_THROW(stopped->advance(1), Interrupted);
  request_stop(0);
  EXPECT_EQ(bytes(*stopped), bytes(*whole));
  stopped->advance(2);
  whole->advance(2);
  EXPECT_EQ(bytes(*stopped), bytes(*whole));
}

TEST(Dqn, SaysWhatItCannotDo) {
  const auto with = [](const std::string& name, Argument value, Levels levels) {
    return [=] {
      algorithm_named("dqn").make(
          {.environment = "maze", .levels = levels, .arguments = {{name, value}}});
    };
  };
  expect_user_error(with("prefill", true, Levels::all()), {"prefill", "levels", "at most"});
  expect_user_error(with("memory", 10.0, Levels::range(0, 2)), {"memory of 10", "batch of 256"});
  expect_user_error(with("epsilon", 1.5, Levels::range(0, 2)), {"epsilon", "1.5"});
  expect_user_error(with("clip", 0.2, Levels::range(0, 2)), {"dqn", "clip"});
}

}  // namespace
}  // namespace agora::agents

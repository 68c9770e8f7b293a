#include <agora/planning/load.h>
#include <agora/planning/solve.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "agents/players.h"

namespace agora::agents {
namespace {

using planning::Model;

int64_t state_in(const std::vector<std::byte>& seen) {
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::byte{255}), 1);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), std::byte{0}),
            static_cast<std::ptrdiff_t>(seen.size()) - 1);
  return std::find(seen.begin(), seen.end(), std::byte{255}) - seen.begin();
}

// Chi-square of all rows together, within five of its standard deviations, sqrt(2 degrees).
TEST(Tabular, MovesAsTheModelSays) {
  const std::string source = "random(states=12,actions=3,branching=4,seed=8)";
  const Model model = planning::load(source);
  constexpr int64_t kCount = 50;
  const auto environment =
      make_environment("tabular", {.count = kCount, .arguments = {{"model", source}}});
  ASSERT_EQ(environment->space().observation.shape, (std::vector<int64_t>{12}));
  ASSERT_EQ(environment->space().actions, 3);
  std::map<std::pair<int64_t, int32_t>, std::map<int64_t, double>> landings;
  for (int64_t step = 0; step < 4000; ++step) {
    std::vector<int64_t> from;
    for (int64_t i = 0; i < kCount; ++i) {
      from.push_back(state_in(seen_by(environment->observations(), *environment, i)));
    }
    const auto actions = random_actions(*environment, 1, step);
    environment->step(actions);
    for (size_t i = 0; i < kCount; ++i) {
      const bool ended = environment->ends()[i] != End::kNone;
      const auto seen = ended ? environment->last_observations() : environment->observations();
      const int64_t to = state_in(seen_by(seen, *environment, static_cast<int64_t>(i)));
      ++landings[{from[i], actions[i]}][to];
      ASSERT_EQ(environment->ends()[i] == End::kTerminated,
                model.terminal(static_cast<planning::State>(to)));
      // The reward of these models depends on state and action alone.
      const auto s = static_cast<planning::State>(from[i]);
      double reward = model.transition(s, actions[i], 0).reward;
      if (ended) reward += model.terminal_reward(static_cast<planning::State>(to));
      ASSERT_NEAR(environment->rewards()[i], reward, 1e-6);
    }
  }
  double sum = 0, degrees = 0;
  for (const auto& [row, found] : landings) {
    const auto s = static_cast<planning::State>(row.first);
    double total = 0;
    for (const auto& [to, times] : found) total += times;
    std::vector<double> observed, expected;
    for (int64_t k = 0; k < model.transition_count(s, row.second); ++k) {
      const Model::Transition t = model.transition(s, row.second, k);
      if (t.probability * total < 5) continue;
      observed.push_back(found.contains(t.next) ? found.at(t.next) : 0);
      expected.push_back(t.probability * total);
      degrees += 1;
    }
    degrees -= 1;
    sum += chi_square(observed, expected);
  }
  EXPECT_GT(degrees, 50);
  EXPECT_NEAR(sum, degrees, 5 * std::sqrt(2 * degrees));
}

// The planner's policy earns the planner's value, within four standard errors.
TEST(Tabular, BestPolicyEarnsItsValue) {
  for (const char* source :
       {"slippery-cliff(slip=0.2)", "frozenlake4x4", "random(states=30,seed=4)", "taxi"}) {
    SCOPED_TRACE(source);
    constexpr double kDiscount = .9;
    Model model = planning::load(source);
    const planning::Solution best = planning::ValueIteration{.discount = kDiscount}(model);
    constexpr size_t kCount = 500;
    const auto environment = make_environment(
        "tabular",
        {.count = kCount, .seed = 2, .arguments = {{"model", source}, {"discount", kDiscount}}});
    EXPECT_EQ(environment->space().discount, kDiscount);
    std::map<int64_t, planning::State> state_at;
    for (planning::State s = 0; s < model.states(); ++s) {
      state_at[model.grid().empty() ? s : model.grid().cell(s)] = s;
    }
    std::vector<double> returns(kCount), weight(kCount, 1), all;
    for (int step = 0; step < 800; ++step) {
      std::vector<int32_t> actions;
      for (size_t i = 0; i < kCount; ++i) {
        const auto seen =
            seen_by(environment->observations(), *environment, static_cast<int64_t>(i));
        actions.push_back(best.policy.best(state_at.at(state_in(seen))));
      }
      environment->step(actions);
      for (size_t i = 0; i < kCount; ++i) {
        returns[i] += weight[i] * static_cast<double>(environment->rewards()[i]);
        weight[i] *= kDiscount;
        if (environment->ends()[i] == End::kNone) continue;
        // Episodes that began early enough to end in time whatever happens: no long one is left
        // out.
        if (step < 600) all.push_back(returns[i]);
        returns[i] = 0;
        weight[i] = 1;
      }
    }
    double mean = 0, squares = 0;
    for (const double each : all) mean += each / static_cast<double>(all.size());
    for (const double each : all) squares += (each - mean) * (each - mean);
    const double n = static_cast<double>(all.size());
    ASSERT_GT(n, 1000);
    EXPECT_NEAR(mean, planning::start_value(model, best), 4 * std::sqrt(squares / n / n) + 1e-5);
  }
}

// Level 7 of a maze is the maze with seed 7: its best way takes as many steps.
TEST(Tabular, LevelsAreSeeds) {
  for (const int64_t level : {7, 8}) {
    const Model model = planning::load(fmt::format("maze(rows=11,cols=11,seed={})", level));
    const planning::Solution best = planning::ValueIteration{}(model);
    const auto environment = level_of("tabular", level, {{"model", "maze( rows=11, cols = 11 )"}});
    std::map<int64_t, planning::State> state_at;
    for (planning::State s = 0; s < model.states(); ++s) state_at[model.grid().cell(s)] = s;
    double earned = 0;
    for (int step = 0; step < 500; ++step) {
      const auto seen = seen_by(environment->observations(), *environment, 0);
      environment->step(std::vector<int32_t>{best.policy.best(state_at.at(state_in(seen)))});
      earned += static_cast<double>(environment->rewards()[0]);
      if (environment->ends()[0] != End::kNone) break;
    }
    EXPECT_EQ(environment->ends()[0], End::kTerminated);
    EXPECT_NEAR(earned, planning::start_value(model, best), 1e-6);
  }
  // A seed that is given is that of every level, and so is a model without one.
  for (const char* source :
       {"maze(rows=5,cols=5,seed=3)", "maze(seed = 3,rows=5,cols=5)", "cliffwalking"}) {
    const auto one = level_of("tabular", 1, {{"model", source}});
    const auto other = level_of("tabular", 2, {{"model", source}});
    for (int step = 0; step < 50; ++step) {
      const auto actions = random_actions(*one, 1, step);
      one->step(actions);
      other->step(actions);
      EXPECT_EQ(seen_by(one->observations(), *one, 0), seen_by(other->observations(), *other, 0));
    }
  }
}

TEST(Tabular, HasMasksAndALimit) {
  const Scratch scratch;
  const auto file = scratch.put("small.csv",
                                "state,action,next_state,probability,reward\n"
                                "a,stay,a,1,-1\na,go,b,1,-1\nb,stay,b,1,-2\n");
  const auto environment =
      level_of("tabular", 0, {{"model", file.string()}, {"limit", 3}, {"discount", .5}});
  const std::vector<uint8_t> begin(environment->masks().begin(), environment->masks().end());
  EXPECT_EQ(begin, (std::vector<uint8_t>{1, 1}));
  environment->step(std::vector<int32_t>{1});
  EXPECT_EQ(environment->masks()[1], 0);
  EXPECT_EQ(environment->ends()[0], End::kNone);
  environment->step(std::vector<int32_t>{0});
  environment->step(std::vector<int32_t>{0});
  EXPECT_EQ(environment->rewards()[0], -2);
  EXPECT_EQ(environment->ends()[0], End::kCutOff);
  EXPECT_EQ(environment->masks()[1], 1) << "of the next episode";
}

TEST(Tabular, SaysWhatIsWrongWithAModel) {
  const auto make = [](const char* source) {
    return [source] { level_of("tabular", 0, {{"model", source}}); };
  };
  expect_user_error(make("maz"), {"'maz'", "did you mean 'maze'?"});
  expect_user_error(make("maze(rows=4)"), {"maze"});
  expect_user_error(make("nowhere.csv"), {"nowhere.csv"});
  expect_user_error(make("maze(rows=1025,cols=1025)"), {"too many", "features"});
  expect_user_error([] { level_of("tabular", 0, {{"discount", 2}}); }, {"discount is 2"});
  const Scratch scratch;
  const auto file = scratch.put("end.map", "G\n");
  expect_user_error(make(file.c_str()), {"end.map"});
}

}  // namespace
}  // namespace agora::agents

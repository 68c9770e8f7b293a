#include <agora/planning/builder.h>
#include <agora/planning/load.h>
#include <agora/planning/solve.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/thread_pool.h"
#include "planning/learning/learning_run.h"
#include "planning/learning/learning_update.h"

namespace agora::planning {
namespace {

// A number and its derivative by beta.
struct Dual {
  double value = 0, slope = 0;
  Dual(double v = 0, double s = 0) : value(v), slope(s) {}
  bool operator>(const Dual& other) const { return value > other.value; }
  Dual& operator+=(const Dual& other) { return *this = {value + other.value, slope + other.slope}; }
};
Dual operator+(Dual a, const Dual& b) { return a += b; }
Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
Dual operator*(const Dual& a, const Dual& b) {
  return {a.value * b.value, a.value * b.slope + a.slope * b.value};
}
Dual exp(const Dual& x) { return {std::exp(x.value), std::exp(x.value) * x.slope}; }
Dual log(const Dual& x) { return {std::log(x.value), x.slope / x.value}; }

// eq. QSARSA: the derivative of log Z by beta follows expected SARSA with pi in proportion to Z.
TEST(ZLearning, ImpliedQFollowsExpectedSarsa) {
  const Model model = load("random(states=30,actions=3,branching=2,terminals=2,seed=5)");
  const double beta = 1.7, mu = -1.3, alpha = 0.15;
  const size_t actions = 3;
  std::vector<Dual> log_z(30 * actions);
  std::vector<double> q(30 * actions, 0.0), policy(actions);
  double largest = 0;
  for (uint32_t episode = 0; episode < 300; ++episode) {
    Rng rng(11, episode);
    State s = 0;
    for (int step = 0; step < 200 && !model.terminal(s); ++step) {
      const auto a = static_cast<Action>(rng.below(actions));
      const auto t =
          model.transition(s, a, rng.below(static_cast<uint32_t>(model.transition_count(s, a))));
      const size_t here = static_cast<size_t>(s) * actions + static_cast<size_t>(a);
      if (model.terminal(t.next)) {
        const double end = model.terminal_reward(t.next);
        const Dual last(beta * end, end);
        move_towards(log_z[here], alpha,
                     z_target<Dual>({beta, 1}, mu, t.reward, std::span(&last, 1)));
        move_towards(q[here], alpha, t.reward + end);
      } else {
        const std::span<const Dual> row(&log_z[static_cast<size_t>(t.next) * actions], actions);
        const double sum = log_sum_exp(row).value;
        for (size_t b = 0; b < actions; ++b) policy[b] = std::exp(row[b].value - sum);
        const std::span<const double> q_row(&q[static_cast<size_t>(t.next) * actions], actions);
        const double target = expected_sarsa_target<double>(t.reward, 1.0, policy, q_row);
        move_towards(log_z[here], alpha, z_target<Dual>({beta, 1}, mu, t.reward, row));
        move_towards(q[here], alpha, target);
      }
      s = t.next;
    }
  }
  for (size_t i = 0; i < q.size(); ++i) {
    EXPECT_NEAR(log_z[i].slope, q[i], 1e-12 * std::max(1.0, std::abs(q[i]))) << i;
    largest = std::max(largest, std::abs(q[i]));
  }
  EXPECT_GT(largest, 1.0);  // something was learned
}

TEST(Behaviour, EpsilonGreedyAndBoltzmann) {
  const double none = -std::numeric_limits<double>::infinity();
  const std::vector<double> row{1.0, none, 2.0, 2.0};
  std::vector<double> policy(4);
  LearningOptions options;
  options.epsilon = 0.3;
  behaviour(row, options, 1.0, policy);
  EXPECT_NEAR(policy[0], 0.1, 1e-15);
  EXPECT_EQ(policy[1], 0);
  EXPECT_NEAR(policy[2], 0.45, 1e-15);
  EXPECT_NEAR(policy[3], 0.45, 1e-15);
  options.exploration = "boltzmann";
  behaviour(row, options, 2.0, policy);
  EXPECT_EQ(policy[1], 0);
  EXPECT_NEAR(policy[2] / policy[0], std::exp(2.0), 1e-12);
}

// On a deterministic model with rate 1 and enough visits, the tables are exact.
TEST(Learners, ReachTheirFixedPoints) {
  const Model model = load("decision-tree");
  for (const Learner& learner : learners()) {
    LearningOptions options;
    options.algorithm = learner.name;
    options.alpha = 1.0;
    options.epsilon = 1.0;
    options.runs = 1;
    options.beta = 2.0;
    options.mu = -1.0;
    LearningRun run(model, options);
    run.advance(200);
    const std::span<const double> root = run.row(0, 0);
    if (learner.log_z) {
      // Z(S0, 1) = 2 e^(beta + 2 mu), Z(S0, 2) = e^(beta + 2 mu), Z(S0, 3) = e^(2 mu)
      EXPECT_NEAR(root[0], std::log(2.0) + 2.0 - 2.0, 1e-12);
      EXPECT_NEAR(root[1], 2.0 - 2.0, 1e-12);
      EXPECT_NEAR(root[2], -2.0, 1e-12);
    } else {
      EXPECT_NEAR(root[0], 1.0, 1e-12) << learner.name;
      EXPECT_NEAR(root[1], 1.0, 1e-12) << learner.name;
      EXPECT_NEAR(root[2], 0.0, 1e-12) << learner.name;
    }
  }
}

// 0 -> 1 -> end with rewards 2, 4 and 8 at the end: a discount of one half counts once a step.
TEST(Learners, DiscountOnceAStepAndPlayToTheVeryEnd) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, 2.0);
  builder.add(0, 1, 2, 1.0, 1.0);
  builder.add(1, 0, 2, 1.0, 4.0);
  builder.terminal_reward(2, 8.0);
  const Model model = builder.build();
  for (const Learner& learner : learners()) {
    if (learner.log_z) continue;  // mu takes the place of a discount
    LearningOptions options;
    options.algorithm = learner.name;
    options.alpha = 1.0;
    options.epsilon = 1.0;
    options.runs = 1;
    options.discount = 0.5;
    LearningRun run(model, options);
    run.advance(100);
    EXPECT_NEAR(run.row(0, 1)[0], 4.0 + 0.5 * 8.0, 1e-12) << learner.name;
    EXPECT_NEAR(run.row(0, 0)[0], 2.0 + 0.5 * 8.0, 1e-12) << learner.name;
    EXPECT_NEAR(run.row(0, 0)[1], 1.0 + 0.5 * 8.0, 1e-12) << learner.name;
    // Returns are sums without a discount, the reward of the end among them.
    EXPECT_EQ(run.greedy_returns(3)[0], 2.0 + 4.0 + 8.0) << learner.name;
    for (const double sum : run.advance(20)) EXPECT_TRUE(sum == 14.0 || sum == 9.0) << sum;
  }
}

// A rate of one over the visits of an action: what was seen there, on average, from the first
// visit.
TEST(Learners, CountTheVisitsOfEachAction) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, 2.0);
  builder.add(0, 1, 1, 1.0, -3.0);
  builder.terminal_reward(1, 0.0);
  const Model model = builder.build();
  for (const char* algorithm : {"q-learning", "sarsa", "expected-sarsa"}) {
    LearningOptions options;
    options.algorithm = algorithm;
    options.alpha = options.alpha_power = options.epsilon = 1.0;
    options.runs = 1;
    LearningRun run(model, options);
    run.advance(30);
    EXPECT_NEAR(run.row(0, 0)[0], 2.0, 1e-12) << algorithm;
    EXPECT_NEAR(run.row(0, 0)[1], -3.0, 1e-12) << algorithm;
  }
}

TEST(Learners, AnEpisodeMayBeginAtAnEnd) {
  ModelBuilder builder;
  builder.add(0, 0, 1, 1.0, -1.0);
  builder.terminal_reward(1, 3.0);
  builder.start(0, 0.5);
  builder.start(1, 0.5);
  const Model model = builder.build();
  LearningOptions options;
  options.runs = 1;
  LearningRun run(model, options);
  double sum = 0.0;
  for (const double earned : run.advance(400)) {
    EXPECT_TRUE(earned == 2.0 || earned == 3.0) << earned;
    sum += earned;
  }
  EXPECT_NEAR(sum / 400, 2.5, 0.1);
  EXPECT_NEAR(run.greedy_returns(400)[0], 2.5, 0.1);
}

// Sutton and Barto, example 6.6: all find a way, Q-learning the one along the edge.
TEST(Learners, CliffWalking) {
  const Model model = load("cliffwalking");
  for (const Learner& learner : learners()) {
    LearningOptions options;
    options.algorithm = learner.name;
    options.alpha = 1.0;
    options.alpha_power = 0.5;
    options.runs = 8;
    LearningRun run(model, options);
    run.advance(2000);
    for (const double earned : run.greedy_returns(20)) {
      EXPECT_GE(earned, -19) << learner.name;
      EXPECT_LE(earned, -13) << learner.name;
      if (learner.name == "q-learning") {
        EXPECT_EQ(earned, -13);
      }
    }
  }
}

TEST(LearningRun, SameBitsForAnyThreadsAndAfterRestore) {
  const Model model = load("frozenlake4x4");
  LearningOptions options;
  options.runs = 5;
  options.alpha_power = 0.5;
  options.exploration = "boltzmann";
  const int before = default_pool().threads();
  set_default_threads(1);
  LearningRun one(model, options);
  const std::vector<double> first = one.advance(60);
  set_default_threads(3);
  LearningRun three(model, options);
  std::vector<double> pieces = three.advance(25);
  LearningRun resumed(model, options);
  resumed.restore({three.table().begin(), three.table().end()},
                  {three.visits().begin(), three.visits().end()}, three.episode(), three.steps());
  const std::vector<double> rest = resumed.advance(35);
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  set_default_threads(before);
  EXPECT_EQ(first, pieces);
  EXPECT_TRUE(std::equal(one.table().begin(), one.table().end(), resumed.table().begin()));
  EXPECT_EQ(one.steps(), resumed.steps());
}

}  // namespace
}  // namespace agora::planning

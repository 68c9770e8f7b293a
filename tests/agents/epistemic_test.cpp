// The solvers of epistemic POMDPs, against enumeration, closed forms and play.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "agents/epistemic/belief.h"
#include "agents/epistemic/bound.h"
#include "agents/epistemic/memoryless.h"
#include "agents/epistemic/problem_kind.h"
#include "epistemic_problems.h"
#include "support/program.h"

namespace agora::agents::epistemic {
namespace {

using planning::Action;
using planning::Model;
using planning::Policy;
using planning::State;

std::vector<double> random_weights(Rng& rng, int count) {
  std::vector<double> weights;
  for (int k = 0; k < count; ++k) weights.push_back(rng.exponential());
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& each : weights) each /= sum;
  return weights;
}

Problem guessing(const std::vector<double>& weights, double discount) {
  return load_problem(fmt::format("guessing(labels={},discount={:.17g})", weights.size(), discount),
                      {.weights = weights});
}

// What one deterministic policy of histories earns: a bit for every sequence of states. `chance` is
// that of the member and of what happened so far.
double history_value(const Model& model, const std::vector<int>& choice, State s, size_t history,
                     int64_t left, double chance) {
  if (model.terminal(s)) return chance * model.terminal_reward(s);
  if (left == 0) return 0;
  const Action a = choice[history];
  double sum = chance * model.expected_reward(s, a);
  for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
    const Model::Transition t = model.transition(s, a, i);
    const size_t states = static_cast<size_t>(model.states());
    sum += model.discount() * history_value(model, choice, t.next,
                                            (history + 1) * states + static_cast<size_t>(t.next),
                                            left - 1, chance * t.probability);
  }
  return sum;
}

TEST(Epistemic, MemoryIsTheBestOfAllHistoryPolicies) {
  Rng rng(1);
  for (int trial = 0; trial < 20; ++trial) {
    const bool ends = trial % 2 == 0;
    Problem problem = random_problem(rng, ends ? 1 : 2, 2, 2 + trial % 3, ends, 0.8);
    // Histories: 2 of one state, 4 of two, 8 of three; numbered as above, two of them unused.
    constexpr int64_t kHorizon = 3;
    double best = -INFINITY;
    for (int bits = 0; bits < 1 << 14; ++bits) {
      std::vector<int> choice;
      for (int k = 0; k < 14; ++k) choice.push_back(bits >> k & 1);
      double sum = 0;
      for (const Member& each : problem.members) {
        for (const planning::Start& start : each.model.start()) {
          sum += history_value(each.model, choice, start.state, static_cast<size_t>(start.state),
                               kHorizon, each.weight * start.probability);
        }
      }
      best = std::max(best, sum);
    }
    EXPECT_NEAR(bayes_optimum(cut_off(problem, kHorizon)).value, best, 1e-9) << trial;
  }
}

TEST(Epistemic, ProcessOfEliminationComesOutByItself) {
  Rng rng(2);
  for (int trial = 0; trial < 20; ++trial) {
    const int labels = 2 + trial % 6;
    const double discount = trial % 4 == 0 ? 1 : rng.uniform(0.3, 1);
    const std::vector<double> weights = random_weights(rng, labels);
    const BayesOptimum best = bayes_optimum(guessing(weights, discount));
    std::vector<Action> order(static_cast<size_t>(labels));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](Action a, Action b) {
      return weights[static_cast<size_t>(a)] > weights[static_cast<size_t>(b)];
    });
    double value = 0, lost = 0, power = 1;
    for (const Action a : order) {
      value -= weights[static_cast<size_t>(a)] * lost;
      lost += power;
      power *= discount;
    }
    EXPECT_NEAR(best.value, value, 1e-9);
    EXPECT_EQ(best.plan(), order);
    EXPECT_LE(best.beliefs.size(), size_t{1} << (labels + 1));
  }
}

TEST(Epistemic, WithoutMemoryGuessesGoByTheRoot) {
  Rng rng(3);
  for (int trial = 0; trial < 12; ++trial) {
    const std::vector<double> weights = random_weights(rng, 2 + trial % 6);
    const MemorylessOptimum best = memoryless_optimum(guessing(weights, 1), {.starts = 6});
    double roots = 0;
    for (const double p : weights) roots += std::sqrt(p);
    for (size_t k = 0; k < weights.size(); ++k) {
      EXPECT_NEAR(best.policy(0, static_cast<Action>(k)), std::sqrt(weights[k]) / roots, 1e-6);
    }
    EXPECT_NEAR(best.value, 1 - roots * roots, 1e-8);
    EXPECT_EQ(best.agreed, 6);
  }
}

// 1 - discount + discount pi is in proportion to the root of p where pi is positive: the level is
// found by bisection.
TEST(Epistemic, WithoutMemoryAndWithADiscountSomeGuessesAreNeverMade) {
  Rng rng(4);
  int never = 0;
  for (const double discount : {0.9, 0.5, 0.2}) {
    const std::vector<double> weights = random_weights(rng, 5);
    const auto guess = [&](double level, double p) {
      return std::max(0.0, (level * std::sqrt(p) - (1 - discount)) / discount);
    };
    double low = 0, high = 100;
    for (int round = 0; round < 200; ++round) {
      const double level = (low + high) / 2;
      double sum = 0;
      for (const double p : weights) sum += guess(level, p);
      (sum > 1 ? high : low) = level;
    }
    const MemorylessOptimum best = memoryless_optimum(guessing(weights, discount));
    for (size_t k = 0; k < weights.size(); ++k) {
      EXPECT_NEAR(best.policy(0, static_cast<Action>(k)), guess(low, weights[k]), 1e-6) << discount;
      never += best.policy(0, static_cast<Action>(k)) == 0;
    }
  }
  EXPECT_GT(never, 0);
}

// Two states, two actions, by Cramer's rule.
double by_hand(const Problem& problem, double x, double y) {
  double sum = 0;
  for (const Member& each : problem.members) {
    double p[2][2] = {}, r[2] = {};
    for (State s = 0; s < 2; ++s) {
      for (Action a = 0; a < 2; ++a) {
        const double first = s == 0 ? x : y, chance = a == 0 ? first : 1 - first;
        for (int64_t i = 0; i < each.model.transition_count(s, a); ++i) {
          const Model::Transition t = each.model.transition(s, a, i);
          p[s][t.next] += chance * t.probability;
          r[s] += chance * t.probability * t.reward;
        }
      }
    }
    const double g = each.model.discount();
    const double a = 1 - g * p[0][0], b = -g * p[0][1], c = -g * p[1][0], d = 1 - g * p[1][1];
    sum += each.weight * 0.5 * ((d * r[0] - b * r[1]) + (a * r[1] - c * r[0])) / (a * d - b * c);
  }
  return sum;
}

TEST(Epistemic, WithoutMemoryIsTheBestOfAFineGrid) {
  Rng rng(5);
  int random = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Problem problem = random_problem(rng, 2, 2, 2 + trial % 3, false, 0.9);
    double grid = -INFINITY;
    for (int x = 0; x <= 200; ++x) {
      for (int y = 0; y <= 200; ++y) grid = std::max(grid, by_hand(problem, x / 200.0, y / 200.0));
    }
    const MemorylessOptimum best = memoryless_optimum(problem);
    EXPECT_GE(best.value, grid - 1e-9) << trial;
    EXPECT_LE(best.value, grid + 5e-3) << trial;
    EXPECT_NEAR(best.value, by_hand(problem, best.policy(0, 0), best.policy(1, 0)), 1e-9);
    EXPECT_LT(best.slope, 1e-5) << trial;
    EXPECT_LE(best.value, bayes_optimum(cut_off(problem, 7)).value + 60 * std::pow(0.9, 7));
    const DeterministicOptimum fixed = deterministic_optimum(problem);
    EXPECT_NEAR(fixed.value,
                std::max({by_hand(problem, 0, 0), by_hand(problem, 0, 1), by_hand(problem, 1, 0),
                          by_hand(problem, 1, 1)}),
                1e-9);
    EXPECT_GE(best.value, fixed.value - 1e-9);
    random += best.value > fixed.value + 1e-6;
  }
  EXPECT_GT(random, 0);  // of which the best is not deterministic
}

double played(const Problem& problem, const Policy& policy, Rng& rng) {
  double luck = rng.uniform();
  size_t member = 0;
  while (member + 1 < problem.members.size() && (luck -= problem.members[member].weight) >= 0) {
    ++member;
  }
  const Model& model = problem.members[member].model;
  const auto draw = [&](auto&& chance, int64_t count) {
    double left = rng.uniform();
    int64_t k = 0;
    while (k + 1 < count && (left -= chance(k)) >= 0) ++k;
    return k;
  };
  State s = model
                .start()[static_cast<size_t>(draw(
                    [&](int64_t k) { return model.start()[static_cast<size_t>(k)].probability; },
                    static_cast<int64_t>(model.start().size())))]
                .state;
  double sum = 0, power = 1;
  while (!model.terminal(s) && power > 1e-6) {
    const auto a = static_cast<Action>(
        draw([&](int64_t k) { return policy(s, static_cast<Action>(k)); }, model.actions()));
    const Model::Transition t =
        model.transition(s, a,
                         draw([&](int64_t k) { return model.transition(s, a, k).probability; },
                              model.transition_count(s, a)));
    sum += power * t.reward;
    power *= model.discount();
    s = t.next;
  }
  return sum + (model.terminal(s) ? power * model.terminal_reward(s) : 0);
}

TEST(Epistemic, ReturnsAreWhatIsEarnedInPlay) {
  Rng rng(6);
  for (const bool ends : {false, true}) {
    const Problem problem = random_problem(rng, 3, 2, 3, ends, 0.7);
    const Policy policy = random_policy(rng, problem.first());
    double sum = 0, squares = 0;
    constexpr int kEpisodes = 40'000;
    for (int k = 0; k < kEpisodes; ++k) {
      const double earned = played(problem, policy, rng);
      sum += earned;
      squares += earned * earned;
    }
    const double mean = sum / kEpisodes;
    const double error = std::sqrt((squares / kEpisodes - mean * mean) / kEpisodes);
    EXPECT_NEAR(return_of(problem, policy), mean, 4 * error);
  }
}

// Prop. epistemic_pomdp_defn: an MDP is drawn, evidence is seen of it, and a policy plays there.
TEST(Epistemic, PosteriorTellsWhatIsEarnedAfterTheEvidence) {
  Rng rng(7);
  const Problem prior = random_problem(rng, 2, 2, 3, false, 0.6);
  const Policy policy = random_policy(rng, prior.first());
  const std::vector<std::pair<State, Action>> asked{{0, 0}, {1, 1}, {0, 1}};
  std::vector<double> sums(8), counts(8);
  for (int k = 0; k < 60'000; ++k) {
    Problem drawn = sampled(prior, 1, static_cast<uint64_t>(k));  // the truth
    const Model& model = drawn.first();
    size_t evidence = 0;
    for (const auto& [s, a] : asked) {
      double one = 0;
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        if (model.transition(s, a, i).next == 1) one += model.transition(s, a, i).probability;
      }
      evidence = 2 * evidence + (rng.uniform() < one);
    }
    sums[evidence] += played(drawn, policy, rng);
    ++counts[evidence];
  }
  int tried = 0;
  for (size_t evidence = 0; evidence < 8; ++evidence) {
    if (counts[evidence] < 2000) continue;
    std::vector<Seen> seen;
    for (size_t k = 0; k < 3; ++k) {
      seen.push_back(
          {asked[k].first, asked[k].second, static_cast<State>(evidence >> (2 - k) & 1)});
    }
    const Problem known = after(prior, seen);
    const double expected = return_of(known, policy);
    EXPECT_NEAR(sums[evidence] / counts[evidence], expected, 10 / std::sqrt(counts[evidence]));
    EXPECT_LE(expected, bayes_optimum(cut_off(known, 12)).value + 5 * std::pow(0.6, 12));
    ++tried;
  }
  EXPECT_GT(tried, 2);
}

TEST(Epistemic, HorizonsEndEpisodes) {
  const std::vector<double> weights{0.5, 0.3, 0.2};
  const Problem problem = cut_off(guessing(weights, 1), 20);
  double wrong = 0;
  for (int t = 1; t <= 20; ++t) wrong += std::pow(2.0 / 3, t);
  EXPECT_NEAR(return_of(problem, uniform(problem)), -wrong, 1e-9);
  EXPECT_NEAR(return_of(problem, mdp_optimum(problem.likeliest().model)), -20 * 0.5, 1e-9);
  EXPECT_NEAR(bayes_optimum(problem).value, -0.3 - 2 * 0.2, 1e-9);
  // Memory knows the time, too; what is without does not.
  const MemorylessOptimum best = memoryless_optimum(problem);
  const auto value = [&](double x, double y) {
    double sum = 0;
    const double each[] = {x, y, 1 - x - y};
    for (size_t k = 0; k < 3; ++k) {
      for (int t = 1; t <= 20; ++t) sum -= weights[k] * std::pow(1 - each[k], t);
    }
    return sum;
  };
  double grid = -INFINITY;
  for (int x = 0; x <= 200; ++x) {
    for (int y = 0; x + y <= 200; ++y) grid = std::max(grid, value(x / 200.0, y / 200.0));
  }
  EXPECT_NEAR(best.value, value(best.policy(0, 0), best.policy(0, 1)), 1e-9);
  EXPECT_GE(best.value, grid);
  EXPECT_LT(best.value, grid + 1e-3);
}

TEST(Epistemic, WhoRemembersTurnsRoundInTheCorridor) {
  const Problem problem = load_problem("corridor(length=5,left=0.6,discount=0.95)");
  const BayesOptimum best = bayes_optimum(problem);
  EXPECT_NEAR(best.value, 0.6 * std::pow(0.95, 2) + 0.4 * std::pow(0.95, 6), 1e-9);
  EXPECT_EQ(best.plan(), (std::vector<Action>{0, 0, 1, 1, 1, 1}));
  const MemorylessOptimum without = memoryless_optimum(problem);
  EXPECT_LT(without.value, best.value - 0.05);
  EXPECT_GT(without.value, deterministic_optimum(problem).value + 0.01);
}

TEST(Epistemic, RewardsTellMoreThanStates) {
  const Problem problem = load_problem("two-switches(discount=0.9)");
  EXPECT_NEAR(bayes_optimum(problem).value, 0, 1e-9);
  EXPECT_NEAR(bayes_optimum(problem, {.sees_rewards = true}).value, -0.5 + 0.9 * 10, 1e-9);
}

TEST(Epistemic, ZookeeperPeeksUnlessTheMapIsReadWell) {
  for (const double accuracy : {0.4, 0.94, 0.96}) {
    const Problem problem = load_problem(fmt::format("zookeeper(accuracy={},seen=0.3)", accuracy));
    const double best = 0.3 + 0.7 * std::max(0.95, accuracy);
    EXPECT_NEAR(bayes_optimum(problem).value, best, 1e-9);
    const MemorylessOptimum without = memoryless_optimum(problem);
    EXPECT_NEAR(without.value, best, 1e-9);
    EXPECT_EQ(without.policy(4, 4), accuracy < 0.95 ? 1 : 0);
    EXPECT_NEAR(return_of(problem, mdp_optimum(problem.likeliest().model)), 0.3 + 0.7 * accuracy,
                1e-9);
  }
}

TEST(Epistemic, SamplesFollowTheWeights) {
  const Problem problem = guessing({0.7, 0.3, 0}, 1);
  const Problem drawn = sampled(problem, 4000, 5);
  int first = 0;
  for (const Member& each : drawn.members) {
    EXPECT_NE(each.name, "label 2");
    EXPECT_DOUBLE_EQ(each.weight, 1 / 4000.0);
    first += each.name == "label 0";
  }
  EXPECT_NEAR(first / 4000.0, 0.7, 0.03);
}

TEST(EpistemicMistakes, AreToldInOneLine) {
  const Scratch scratch;
  scratch.put("a.csv", "state,action,next_state,probability,reward\ns,go,t,1,0\nt,,,,1\n");
  scratch.put("b.csv",
              "state,action,next_state,probability,reward\ns,go,u,1,0\nu,go,t,1,0\nt,,,,1\n");
  const auto mistake = [&](const std::string& text, const std::string& fragment) {
    const auto file = scratch.put("p.toml", text);
    expect_user_error([&] { load_problem(file.string()); }, {"p.toml", fragment});
  };
  const auto two = [](const std::string& first, const std::string& second) {
    return fmt::format("[[model]]\nsource = \"a.csv\"\nweight = {}\n[[model]]\n{}\n", first,
                       second);
  };
  mistake(two("0.5", "source = \"a.csv\"\nweight = 0.4"), "the weights sum to 0.9, expected 1");
  mistake(two("1.5", "source = \"a.csv\"\nweight = -0.5"), "weight 2 is -0.5");
  mistake(two("nan", "source = \"a.csv\"\nweight = 1"), "weight 1 is nan");
  mistake(two("inf", "source = \"a.csv\"\nweight = 1"), "weight 1 is inf");
  mistake(two("0.5", "source = \"b.csv\"\nweight = 0.5"),
          "a.csv has 2 states and 1 actions, b.csv");
  mistake(two("0.5", "source = \"a.csv\"\nwieght = 0.5"), "did you mean 'weight'");
  mistake(two("0.5", "source = \"a.csv\"\nweight = \"much\""), "weight is no number");
  mistake(two("0.5", "weight = 0.5"), "expected a member 'source'");
  mistake("discount = 2\n" + two("0.5", "source = \"a.csv\"\nweight = 0.5"), "discount is 2");
  mistake("model = 3\n", "[[model]]");
  mistake("", "expected a [[model]]");
  expect_user_error([] { load_problem("gessing"); }, {"did you mean 'guessing'"});
  expect_user_error([] { load_problem("guessing(lables=3)"); }, {"did you mean 'labels'"});
  expect_user_error([] { load_problem("guessing", {.weights = {1}}); }, {"1 weights for 4 models"});
  Rng rng(1);
  const Problem wide = random_problem(rng, 3, 3, 3, false, 0.9);
  expect_user_error([&] { bayes_optimum(wide, {.most = 1000}); },
                    {"more than 1000 beliefs", "with a horizon"});
  expect_user_error([&] { cut_off(wide, 1'000'000); }, {"too many"});
  expect_user_error([] { memoryless_optimum(load_problem("binary-tree(depth=10)")); },
                    {"2046 probabilities"});
}

TEST(EpistemicVerbs, TellMistakesInOneLine) {
  const Scratch scratch;
  for (const std::string words :
       {"agora agent epistemic guessing --weights '1 1 1 1'", "agora agent epistemic nothing",
        "agora agent epistemic missing.toml", "agora agent epistemic guessing --weights '1 x'",
        "agora agent epistemic 'binary-tree(depth=10)'",
        "agora agent epistemic guessing --temperatures -1"}) {
    const testing::Result result = testing::shell(words, scratch.path());
    EXPECT_EQ(result.status, 2) << words;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace agora::agents::epistemic

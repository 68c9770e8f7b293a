// Chapter 3's propositions about epistemic POMDPs, solved exactly.
#include <cmath>

#include "agents/epistemic/belief.h"
#include "agents/epistemic/bound.h"
#include "agents/epistemic/memoryless.h"
#include "agents/epistemic/problem_kind.h"
#include "base/rng.h"
#include "base/signals.h"
#include "experiments/numbers.h"

namespace agora::reproduce::kind_ch3_propositions {
namespace {

using namespace agents::epistemic;
using agents::Link;
using planning::Action;
using planning::Policy;
using planning::State;

constexpr uint32_t kStream = 0x63683300;
constexpr int kLabels = 10, kGuesses = 20;  // as of FashionMNIST
constexpr double kDiscount = 0.9, kWrong = 0.1;
const std::vector<double> kTemperatures{1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3};

std::vector<double> drawn_weights(Rng& rng, int count) {
  std::vector<double> weights;
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += weights.emplace_back(rng.exponential());
  for (double& each : weights) each /= sum;
  return weights;
}

Problem guessing(const std::vector<double>& weights) {
  return load_problem(fmt::format("guessing(labels={})", weights.size()), {.weights = weights});
}

// What guesses cost, by how sure the first one is; the other labels share the rest.
Json guesses() {
  Json all = Json::array();
  for (const double sure : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95}) {
    std::vector<double> weights(kLabels, (1 - sure) / (kLabels - 1));
    weights[0] = sure;
    const Problem problem = cut_off(guessing(weights), kGuesses);
    const MemorylessOptions search{.starts = 2};
    all.push_back({{"sure", sure},
                   {"memory", bayes_optimum(problem).value},
                   {"memoryless", memoryless_optimum(problem, search).value},
                   {"deterministic", return_of(problem, mdp_optimum(problem.likeliest().model))},
                   {"uniform", return_of(problem, uniform(problem))}});
  }
  return all;
}

// Elimination and the root, for drawn posteriors.
Json drawn_guesses(uint64_t seed) {
  double elimination = 0, root = 0, entropy = 0;
  for (uint32_t trial = 0; trial < 10; ++trial) {
    Rng rng(seed, kStream, trial);
    std::vector<double> weights = drawn_weights(rng, 2 + static_cast<int>(trial % 5));
    const Problem problem = guessing(weights);
    const MemorylessOptimum best = memoryless_optimum(problem, {.starts = 4});
    const Policy soft = maximum_entropy(problem.believed.front().model, 1);
    double sum = 0;
    for (const double p : weights) sum += std::sqrt(p);
    for (size_t k = 0; k < weights.size(); ++k) {
      const auto a = static_cast<Action>(k);
      root = std::max(root, std::abs(best.policy(0, a) - std::sqrt(weights[k]) / sum));
      entropy = std::max(entropy, std::abs(best.policy(0, a) - soft(0, a)));
    }
    std::sort(weights.rbegin(), weights.rend());
    double expected = 0;
    for (size_t k = 0; k < weights.size(); ++k) expected -= weights[k] * static_cast<double>(k);
    elimination = std::max(elimination, std::abs(bayes_optimum(problem).value - expected));
  }
  return {{"elimination", elimination}, {"root", root}, {"entropy", entropy}};
}

Json switching() {
  Json all = Json::array();
  for (const double loss : {0.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0}) {
    const Problem problem =
        load_problem(fmt::format("switching(chance=0.05,loss={},discount={})", loss, kDiscount));
    all.push_back({{"loss", loss},
                   {"switch", return_of(problem, mdp_optimum(problem.members[0].model))},
                   {"uniform", return_of(problem, uniform(problem))},
                   {"best", memoryless_optimum(problem, {.starts = 4}).value}});
  }
  return all;
}

// The weight that the best policy gives to actions which are best in some MDP.
Json two_switches() {
  const Problem problem = load_problem("two-switches");
  const MemorylessOptimum best = memoryless_optimum(problem);
  double shared = 0;
  for (const Member& each : problem.members) {
    const Policy own = mdp_optimum(each.model);
    for (State s = 0; s < problem.views; ++s) {
      for (Action a = 0; a < own.actions; ++a) shared += std::min(own(s, a), best.policy(s, a));
    }
  }
  return {{"shared", shared},
          {"best", best.value},
          {"optimum", return_of(problem, mdp_optimum(problem.members[0].model))}};
}

double by_rounds(int depth, double p) {
  const double round = std::pow(kDiscount, depth);
  return round * p / (1 - round + round * p);
}

Json tree(int depth) {
  const Problem problem =
      load_problem(fmt::format("binary-tree(depth={},discount={})", depth, kDiscount));
  double entropy = 0;
  for (const double temperature : kTemperatures) {
    entropy = std::max(entropy,
                       return_of(problem, maximum_entropy(problem.members[0].model, temperature)));
  }
  const double best = memoryless_optimum(problem, {.starts = 2}).value;
  const double random = memoryless_optimum(problem, {.starts = 2, .least = kWrong}).value;
  const double unif = return_of(problem, uniform(problem));
  const double apart =
      std::max({std::abs(best / by_rounds(depth, 0.5) - 1),
                std::abs(random / by_rounds(depth, 0.5 * std::pow(1 - kWrong, depth - 1)) - 1),
                std::abs(unif / by_rounds(depth, std::pow(0.5, depth)) - 1)});
  return {{"depth", depth},
          {"best", best},
          {"random", random},
          {"uniform", unif},
          {"entropy", entropy},
          {"apart", apart},
          {"memory", bayes_optimum(problem).value},
          {"deterministic", return_of(problem, mdp_optimum(problem.members[0].model))}};
}

Policy drawn_policy(Rng& rng, const Problem& problem) {
  const planning::Model& model = problem.first();
  Policy policy{model.actions(), {}, {}};
  for (State s = 0; s < model.states(); ++s) {
    for (const double p : drawn_weights(rng, model.actions())) policy.probabilities.push_back(p);
  }
  return policy;
}

// p, moved towards q by a share.
Policy mixed(Policy p, const Policy& q, double share) {
  for (size_t k = 0; k < p.probabilities.size(); ++k) {
    p.probabilities[k] += share * (q.probabilities[k] - p.probabilities[k]);
  }
  return p;
}

// The smallest of what a policy earns beyond its bound, the times that the bound without the root
// is wrong, and the largest of what a collection scores beyond what its link earns.
Json bounds(uint64_t seed, int64_t instances) {
  double slack = INFINITY, beyond = -INFINITY;
  int64_t wrong = 0;
  for (int64_t k = 0; k < instances; ++k) {
    if (k % 64 == 0) throw_if_stopped();
    Rng rng(seed, kStream + 1, static_cast<uint32_t>(k));
    const Problem problem = load_problem(fmt::format(
        "random(states={},actions={},models={},discount={:.17g},seed={})", 1 + rng.below(3),
        2 + rng.below(2), 1 + rng.below(3), rng.uniform(0, 0.95), rng.bits()));
    const Policy centre = drawn_policy(rng, problem);
    const double share = std::pow(10, -rng.uniform(0, 5));
    std::vector<Policy> policies;
    for (size_t i = 0; i < problem.members.size(); ++i) {
      policies.push_back(mixed(centre, drawn_policy(rng, problem), share));
    }
    const LowerBound bound = lower_bound(problem, centre, policies);
    const double value = return_of(problem, centre);
    slack = std::min(slack, value - bound.value);
    wrong += value < bound.earned - bound.factor * bound.divergence - 1e-9;
    beyond = std::max(beyond, linked_objective(problem, policies, Link::kMax) -
                                  return_of(problem, linked(problem, policies, Link::kMax)));
  }
  return {{"instances", instances}, {"slack", slack}, {"wrong", wrong}, {"beyond", beyond}};
}

Json run(Task& task) {
  Json trees = Json::array();
  for (int depth = 1; depth <= (task.quick() ? 5 : 7); ++depth) trees.push_back(tree(depth));
  return {{"guesses", guesses()},      {"drawn", drawn_guesses(task.seed)},
          {"switching", switching()},  {"two_switches", two_switches()},
          {"trees", std::move(trees)}, {"bounds", bounds(task.seed, task.quick() ? 2000 : 20'000)}};
}

std::vector<double> each(const std::vector<Json>& results, const JsonPath& path) {
  std::vector<double> all;
  for (const Json& result : results) all.push_back(result.at(path).get<double>());
  return all;
}

report::Series curve(const Json& points, const std::string& name, const std::string& x,
                     const std::string& y, bool dashed = false) {
  report::Series series{.name = name, .x = {}, .y = {}, .dashed = dashed};
  for (const Json& point : points) {
    series.x.push_back(point.at(x).get<double>());
    series.y.push_back(point.at(y).get<double>());
  }
  return series;
}

Judgement judge(Scale, const std::vector<Json>& results) {
  const Json& first = results.front();
  Judgement outcome;
  const auto add = [&](std::string what, const char* published, const JsonPath& path,
                       const Rule& rule) {
    outcome.findings.push_back(finding(std::move(what), published, each(results, path), rule));
  };
  const auto at = [](const char* path) { return JsonPath(path); };
  add("guessing: largest |value with memory - process of elimination|", "0",
      at("/drawn/elimination"), at_most(1e-8));
  add("guessing: largest |π - √p / Σ√p| of the best policy without memory", "0", at("/drawn/root"),
      at_most(1e-6));
  add("guessing: largest |π - maximum entropy in the bandit|", "0", at("/drawn/entropy"),
      at_most(1e-6));
  add("guessing, half sure, 20 guesses: with memory", "", at("/guesses/4/memory"),
      within(-0.5 * 5, 1e-6));
  add("guessing, half sure, 20 guesses: the MDP's optimum", "", at("/guesses/4/deterministic"),
      within(-10, 1e-6));
  // ε = .05, c = 200: (1 - (c + 1) ε) / (1 - γ), and half of it.
  add("always switch, ε = .05, c = 200", "(1 - (c+1)ε) / (1 - γ) = -90.5",
      at("/switching/6/switch"), within(-90.5, 1e-6));
  add("uniform, ε = .05, c = 200", "half as much: -45.25", at("/switching/6/uniform"),
      within(-45.25, 1e-6));
  add("the best without memory there", "", at("/switching/6/best"), within(0, 1e-6));
  add("two switches: weight of actions that are best in some MDP", "0", at("/two_switches/shared"),
      at_most(1e-9));
  add("two switches: the best without memory", "0", at("/two_switches/best"), within(0, 1e-6));
  add("two switches: an MDP's optimum", "-5", at("/two_switches/optimum"), within(-5, 1e-6));
  const Json& trees = first.at("trees");
  for (size_t k = 0; k < trees.size(); ++k) {
    const JsonPath here = JsonPath("/trees") / k;
    const int depth = static_cast<int>(k) + 1;
    const std::string name = fmt::format("tree of depth {}: ", depth);
    add(name + "best, random everywhere and uniform, largest difference from the formulas", "0",
        here / "apart", at_most(1e-6));
    add(name + "an MDP's optimum", "γⁿ / 2", here / "deterministic",
        within(std::pow(kDiscount, depth) / 2, 1e-6));
    std::vector<double> ratio;
    for (const Json& result : results) {
      const Json& one = result.at(here);
      ratio.push_back(one.at("entropy").get<double>() / one.at("best").get<double>());
    }
    if (depth >= 2) {
      outcome.findings.push_back(finding(name + "maximum entropy of the best temperature / best",
                                         "below 1", ratio, between(0, 0.95)));
    }
  }
  add("lower bound: smallest of return - bound", "≥ 0", at("/bounds/slack"), at_least(-1e-9));
  add("lower bound without the root: times that it is wrong", "", at("/bounds/wrong"), at_least(1));
  add("link: largest of objective - return of the link", "≤ 0", at("/bounds/beyond"),
      at_most(1e-9));
  report::LineChart guesses{.title = "Guessing one of ten labels, twenty times at most",
                            .caption = "Exact returns by how sure the first label is.",
                            .x = {.title = "posterior of the likeliest label"},
                            .y = {.title = "return"}};
  guesses.series = {curve(first["guesses"], "with memory", "sure", "memory"),
                    curve(first["guesses"], "without memory", "sure", "memoryless"),
                    curve(first["guesses"], "uniform", "sure", "uniform"),
                    curve(first["guesses"], "the MDP's optimum", "sure", "deterministic")};
  report::LineChart depths{.title = "The binary tree",
                           .caption =
                               "Random everywhere: the best policy that errs with a chance "
                               "of .1 in every state.",
                           .x = {.title = "depth n"},
                           .y = {.title = "return", .log = true}};
  depths.series = {curve(trees, "with memory", "depth", "memory"),
                   curve(trees, "best without memory", "depth", "best"),
                   curve(trees, "an MDP's optimum", "depth", "deterministic"),
                   curve(trees, "maximum entropy", "depth", "entropy", true),
                   curve(trees, "random everywhere", "depth", "random"),
                   curve(trees, "uniform", "depth", "uniform")};
  report::LineChart losses{.title = "Always switch",
                           .caption = "Optimal with probability .95, and worse than chance.",
                           .x = {.title = "loss c"},
                           .y = {.title = "return"}};
  losses.series = {curve(first["switching"], "always switch", "loss", "switch"),
                   curve(first["switching"], "uniform", "loss", "uniform"),
                   curve(first["switching"], "best without memory", "loss", "best")};
  outcome.charts = {guesses, losses, depths};
  outcome.remark =
      "The proposition on maximum entropy needs γ = 1, that on links means policies without "
      "memory; "
      "the proof of the bound needs the span of Q, not the largest advantage (docs/errata.md).";
  return outcome;
}

}  // namespace

Experiment entry_ch3_propositions() {
  return {.name = "ch3-propositions",
          .chapter = 3,
          .title = "Epistemic POMDPs solved exactly: what each proposition claims",
          .source = "ch. 3, understanding optimality; appendix, theoretical results",
          .quick = {.seeds = {1}, .expected_seconds = 3, .words = "2,000 drawn problems"},
          .full = {.seeds = {1, 2, 3}, .expected_seconds = 60, .words = "20,000 drawn problems"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_propositions

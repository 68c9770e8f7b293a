// The robotic zookeeper that chapter 3 opens with: the epistemic POMDP exactly, and policies that
// learn from a few zoos.
#include <cmath>

#include "agents/algorithm.h"
#include "agents/epistemic/belief.h"
#include "agents/epistemic/bound.h"
#include "agents/epistemic/memoryless.h"
#include "agents/epistemic/problem_kind.h"
#include "agents/evaluation/evaluate.h"
#include "reproduce/agent_stages.h"

namespace agora::reproduce::kind_ch3_zookeeper {
namespace {

using namespace agents;

constexpr double kPeek = 0.95;
constexpr int64_t kZoos = 50;  // to learn from
constexpr int kPoints = 10;
constexpr int64_t kFilmed = 12;  // zoos

// In new zoos alone, by the chance that a map is read rightly.
Json exact() {
  Json all = Json::array();
  for (const double accuracy : {0.25, 0.4, 0.6, 0.8, 0.9, 0.94, 0.96, 1.0}) {
    const epistemic::Problem problem =
        epistemic::load_problem(fmt::format("zookeeper(accuracy={},seen=0)", accuracy));
    const epistemic::MemorylessOptimum best = epistemic::memoryless_optimum(problem, {.starts = 4});
    double entropy = 0;
    for (const double temperature : {0.01, 0.03, 0.1, 0.3, 1.0}) {
      entropy = std::max(
          entropy, epistemic::return_of(problem, epistemic::maximum_entropy(
                                                     problem.likeliest().model, temperature)));
    }
    const planning::State fresh = problem.views - 2;
    all.push_back(
        {{"accuracy", accuracy},
         {"bayes", epistemic::bayes_optimum(problem).value},
         {"best", best.value},
         {"peeks", best.policy(fresh, problem.first().actions() - 1)},
         {"map", epistemic::return_of(problem, epistemic::mdp_optimum(problem.likeliest().model))},
         {"entropy", entropy}});
  }
  return all;
}

EvaluationOptions visits(const Levels& levels, int64_t episodes, uint64_t seed) {
  return {.environment = "zookeeper", .levels = levels, .episodes = episodes, .seed = seed};
}

double earned(const AgentLearner& learner, const Levels& levels, int64_t episodes, uint64_t seed) {
  const EvaluationOptions how = visits(levels, episodes, seed);
  const auto actor = make_policy(learner.policy(), how.environments);
  return evaluate(*actor, how).mean;
}

// An entropy bonus of .5 keeps a policy entering enclosures: with the published .01 all of them
// peek before they have looked at a map, and never look again.
Json learned(Stages& stages, const Task& task, const std::string& algorithm, int64_t steps,
             Arguments arguments) {
  arguments.merge(
      Arguments{{"rollout", 32.0}, {"minibatches", 4.0}, {"rate", 0.002}, {"entropy", 0.5}});
  const AgentOptions options{.environment = "zookeeper",
                             .levels = Levels::range(0, kZoos),
                             .steps = steps,
                             .seed = task.seed,
                             .network = {.kind = "mlp"},
                             .arguments = arguments};
  const auto learner = algorithm_named(algorithm).make(options);
  const int64_t episodes = task.quick() ? 2000 : 10'000;
  const auto seen = options.levels, unseen = Levels::range(kZoos, Levels::kAll - kZoos);
  const auto look = [&](int64_t) {
    return Json{{"steps", learner->environment_steps()},
                {"train", earned(*learner, seen, episodes, task.seed)},
                {"test", earned(*learner, unseen, episodes, task.seed)}};
  };
  Json all = stages.learn(*learner, {.points = kPoints, .look = look});
  keep_film(stages, (algorithm == "ppo" ? "PPO" : "LEEP") + std::string("-in-new-zoos"),
            learner->policy(), visits(unseen, episodes, task.seed), kFilmed);
  return {{"seen", std::move(all)}};
}

Json run(Task& task) {
  Stages stages(task);
  const int64_t steps = task.quick() ? 100'000 : 400'000;
  Json result{{"exact", exact()}};
  result["ppo"] = stages.stage("ppo", [&] { return learned(stages, task, "ppo", steps, {}); });
  result["leep"] = stages.stage("leep", [&] {
    const double members = task.quick() ? 2 : 4;
    return learned(stages, task, "leep", task.quick() ? steps : 4 * steps, {{"members", members}});
  });
  return result;
}

// The last three looks of ten: a policy that draws its actions moves to and fro.
std::vector<double> late(const std::vector<Json>& results, const std::string& stage,
                         const std::string& what) {
  std::vector<double> all;
  for (const Json& result : results) {
    const Json& seen = result.at(stage).at("seen");
    CHECK(seen.size() >= 3, "{} looks of {}", seen.size(), stage);
    double sum = 0;
    for (size_t k = seen.size() - 3; k < seen.size(); ++k) sum += seen[k].at(what).get<double>();
    all.push_back(sum / 3);
  }
  return all;
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement outcome;
  const Json& exact = results.front().at("exact");
  for (size_t k = 0; k < exact.size(); ++k) {
    const JsonPath here = JsonPath("/exact") / k;
    const auto accuracy = exact[k].at("accuracy").get<double>();
    const std::string name = fmt::format("maps read rightly with {:g}: ", accuracy);
    const double best = std::max(accuracy, kPeek);
    outcome.findings.push_back(finding(name + "best with memory", "",
                                       numbers_at(results, here / "bayes"), within(best, 1e-8)));
    outcome.findings.push_back(
        finding(name + "chance that the best without memory peeks", accuracy < kPeek ? "1" : "0",
                numbers_at(results, here / "peeks"), within(accuracy < kPeek ? 1 : 0, 1e-6)));
    outcome.findings.push_back(finding(name + "optimum of the likeliest MDP", "",
                                       numbers_at(results, here / "map"), within(accuracy, 1e-8)));
  }
  const std::vector<double> train = late(results, "ppo", "train"),
                            test = late(results, "ppo", "test");
  outcome.findings.push_back(finding(scale, "PPO: return in the zoos it learned from",
                                     "above peeking's .95", train, at_least(0.955),
                                     at_least(0.94)));
  outcome.findings.push_back(
      finding("PPO: return in new zoos", "below peeking's .95", test, between(0.6, 0.92)));
  std::vector<double> gap;
  for (size_t k = 0; k < train.size(); ++k) gap.push_back(train[k] - test[k]);
  outcome.findings.push_back(finding("PPO: the gap", "", gap, at_least(0.05)));
  for (const char* what : {"train", "test"}) {
    outcome.findings.push_back(not_judged(
        fmt::format("LEEP: return in {} zoos", what == std::string("test") ? "new" : "seen"), "",
        late(results, "leep", what), "the thesis claims nothing of LEEP here"));
  }
  report::LineChart chances{.title = "A new zoo",
                            .caption = "Exact returns in the epistemic POMDP.",
                            .x = {.title = "chance that the map is read rightly"},
                            .y = {.title = "return", .low = 0.0, .high = 1.0}};
  for (const auto& [name, key] : {std::pair{"Bayes-optimal", "bayes"},
                                  {"optimum of the likeliest MDP", "map"},
                                  {"maximum entropy there, best temperature", "entropy"}}) {
    report::Series series{.name = name, .x = {}, .y = {}};
    for (const Json& one : exact) {
      series.x.push_back(one.at("accuracy").get<double>());
      series.y.push_back(one.at(key).get<double>());
    }
    chances.series.push_back(std::move(series));
  }
  report::LineChart curves{.title = fmt::format("Learning from {} zoos", kZoos),
                           .caption = "Returns of sampled actions; dashed: peeking.",
                           .x = {.title = "steps"},
                           .y = {.title = "return", .low = 0.0, .high = 1.0}};
  for (const std::string stage : {"ppo", "leep"}) {
    const std::string name = stage == "ppo" ? "PPO" : "LEEP";
    curves.series.push_back(seen_curve(name + ", seen zoos", results, stage, "steps", "train"));
    curves.series.push_back(seen_curve(name + ", new zoos", results, stage, "steps", "test"));
  }
  const std::vector<double> x = curves.series[0].x;
  CHECK(!x.empty(), "PPO was not looked at");
  curves.series.push_back(
      {.name = "peeking", .x = {x.front(), x.back()}, .y = {kPeek, kPeek}, .dashed = true});
  outcome.charts = {chances, curves};
  outcome.remark =
      "With an entropy bonus of .5, so that enclosures are entered at all. Members of LEEP share "
      "the steps; what they are linked to enters more enclosures than each of them.";
  return outcome;
}

}  // namespace

Experiment entry_ch3_zookeeper() {
  return {.name = "ch3-zookeeper",
          .chapter = 3,
          .title = "The robotic zookeeper: reading maps in seen zoos, peeking in new ones",
          .source = "ch. 3, introduction and its figure",
          .quick = {.seeds = {1}, .expected_seconds = 8, .words = "100,000 steps, 2 members"},
          .full = {.seeds = {1, 2, 3, 4, 5}, .expected_seconds = 300, .words = "4 members"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_zookeeper

#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <algorithm>

#include "base/signals.h"
#include "base/statistics.h"
#include "planning/learning/learning_run.h"
#include "reproduce/experiment.h"

namespace agora::reproduce::kind_ch2_z_learning {
namespace {

using namespace planning;

const char* const kExplorations[] = {"epsilon-greedy", "boltzmann"};
constexpr int64_t kWindows = 60;

LearningOptions options_of(const std::string& algorithm, const std::string& exploration,
                           const Task& task) {
  LearningOptions options;
  options.algorithm = algorithm;
  options.exploration = exploration;
  options.alpha = 0.2;
  options.runs = task.quick() ? 10 : 40;
  options.seed = task.seed;
  return options;
}

// With a constant rate a table is never done: now and then one is caught while its greedy policy
// walks in a circle, which a mean over the runs would show and nothing else.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

Json run(Task& task) {
  const Model model = load("cliffwalking");
  const int64_t episodes = task.quick() ? 1200 : 3000, window = episodes / kWindows;
  Json curves = Json::array();
  for (const Learner& learner : learners()) {
    for (const char* exploration : kExplorations) {
      LearningRun learning(model, options_of(learner.name, exploration, task));
      std::vector<double> episode, mean;
      for (int64_t i = 0; i < kWindows; ++i) {
        throw_if_stopped();
        mean.push_back(summarise(learning.advance(window)).mean);
        episode.push_back(static_cast<double>(learning.episode()));
      }
      double late = 0;
      for (size_t i = mean.size() - 10; i < mean.size(); ++i) late += mean[i] / 10;
      curves.push_back({{"algorithm", learner.name},
                        {"exploration", exploration},
                        {"episode", episode},
                        {"mean", mean},
                        {"late", late},
                        {"greedy", median(learning.greedy_returns(1))}});
    }
  }
  return {{"optimum", start_value(model, solve(model, "vi"))}, {"curves", std::move(curves)}};
}

// One number of one curve in every result.
std::vector<double> curve_numbers(const std::vector<Json>& results, const std::string& algorithm,
                                  const std::string& exploration, const char* key) {
  std::vector<double> all;
  for (const Json& result : results) {
    for (const Json& curve : result.at("curves")) {
      if (curve.at("algorithm") == algorithm && curve.at("exploration") == exploration) {
        all.push_back(curve.at(key).get<double>());
      }
    }
  }
  return all;
}

Judgement judge(Scale, const std::vector<Json>& results) {
  Judgement outcome;
  const auto optimum = results.front().at("optimum").get<double>();
  for (const char* exploration : kExplorations) {
    report::LineChart chart{
        .title = std::string("Cliff walking, ") + exploration,
        .caption =
            "Mean return of an episode while learning; the band is the 95 % interval over "
            "the seeds, where there are several.",
        .x = {.title = "episode"},
        .y = {.title = "return", .low = -200.0, .high = 0.0}};
    for (const Learner& learner : learners()) {
      const auto late = curve_numbers(results, learner.name, exploration, "late");
      const auto greedy = curve_numbers(results, learner.name, exploration, "greedy");
      const std::string name = learner.name + ", " + exploration;
      outcome.findings.push_back(
          finding(name + ": return at the end", "", late, between(-100, optimum + 1e-9)));
      outcome.findings.push_back(
          finding(name + ": return of the greedy policy, median over the runs", "", greedy,
                  between(optimum - 6, optimum + 1e-9)));
      report::Series series{.name = learner.name, .x = {}, .y = {}};
      std::vector<std::vector<double>> means;
      for (const Json& result : results) {
        for (const Json& curve : result.at("curves")) {
          if (curve.at("algorithm") != learner.name || curve.at("exploration") != exploration) {
            continue;
          }
          series.x = curve.at("episode").get<std::vector<double>>();
          means.push_back(curve.at("mean").get<std::vector<double>>());
        }
      }
      for (size_t i = 0; i < series.x.size(); ++i) {
        std::vector<double> here;
        for (const auto& one : means) here.push_back(one.at(i));
        const Summary summary = summarise(here);
        series.y.push_back(summary.mean);
        if (here.size() < 2) continue;
        series.lower.push_back(summary.mean - summary.half_width95);
        series.upper.push_back(summary.mean + summary.half_width95);
      }
      chart.series.push_back(std::move(series));
    }
    outcome.charts.push_back(std::move(chart));
  }
  std::vector<double> lead;
  const auto z = curve_numbers(results, "z-learning", "boltzmann", "late");
  const auto q = curve_numbers(results, "q-learning", "boltzmann", "late");
  for (size_t i = 0; i < z.size(); ++i) lead.push_back(z[i] - q[i]);
  outcome.findings.push_back(finding(
      "boltzmann: Z-learning earns more than Q-learning at the end, by", "", lead, at_least(0)));
  outcome.remark =
      "Gymnasium's CliffWalking, learning rate .2, ε = .1, β = 1, μ = -log 4 - .1, tables start at "
      "zero. The thesis gives no numbers; that the implied Q follows expected SARSA to rounding is "
      "tested separately.";
  return outcome;
}

}  // namespace

Experiment entry_ch2_z_learning() {
  return {.name = "ch2-z-learning",
          .chapter = 2,
          .title = "Z-learning beside Q-learning, SARSA and expected SARSA",
          .source = "ch. 2, the model-free case",
          .quick = {.seeds = {1}, .expected_seconds = 5, .words = "10 runs of 1,200 episodes"},
          .full = {.seeds = {1, 2, 3, 4, 5},
                   .expected_seconds = 20,
                   .words = "5 x 40 runs of 3,000 episodes"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch2_z_learning

// What LEEP's parts are good for: without the penalty, with the average as its link, and Distral.
#include "agent_games.h"

namespace agora::reproduce::kind_ch3_ablations {
namespace {

const std::vector<GameLearner> kLearners{
    {"ppo", "PPO", "maze", "ppo"},
    {"leep", "LEEP", "maze", "leep"},
    {"leep-average", "LEEP (avg)", "maze", "leep", {{"average", true}}},
    {"ensemble", "Ensemble (no reg)", "maze", "ensemble"},
    {"distral", "Distral", "maze", "distral"}};

Json run(Task& task) {
  return learn_games(
      task, kLearners,
      task.quick() ? GameSize{10, 100'000, 2, 200} : GameSize{200, 25'000'000, 25, 1'000});
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  const auto leep = earned(results, "leep", "test");
  for (const GameLearner& learner : kLearners) {
    if (learner.stage == "leep") continue;
    const std::string what = "unseen levels: LEEP's return less that of " + learner.words;
    const auto ours = less(leep, earned(results, learner.stage, "test"));
    found.findings.push_back(scale == Scale::kQuick
                                 ? not_judged(what, "> 0", ours, "100,000 steps cannot tell")
                                 : finding(what, "> 0", ours, at_least(0.0)));
  }
  // Members that learn alone are ten times as far apart.
  for (const std::string stage : {"leep", "leep-average", "distral"}) {
    const std::string what = stage + ": divergence that the penalty leaves";
    const auto ours = divergence(results, stage);
    found.findings.push_back(scale == Scale::kQuick
                                 ? finding(what, "", ours, between(1e-5, 0.006))
                                 : not_judged(what, "", ours, "no value is printed"));
  }
  found.charts.emplace_back(returns_chart("Maze, parts of LEEP left out", results, kLearners));
  found.remark = kEmbedded;
  return found;
}

}  // namespace

Experiment entry_ch3_ablations() {
  return {.name = "ch3-ablations",
          .chapter = 3,
          .title = "LEEP without its parts: Ensemble, average link, Distral",
          .source = "ch. 3, Experiments, fig. ablations",
          .quick = {.seeds = {1},
                    .expected_seconds = 30,
                    .words = "10 levels of the symbolic maze, 100,000 steps"},
          .full = {.seeds = {1, 2, 3, 4, 5},
                   .expected_seconds = 1'500'000,
                   .words = "200 levels of Procgen's maze, 25 million steps",
                   .gpu = true},
          .missing = missing_games,
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_ablations

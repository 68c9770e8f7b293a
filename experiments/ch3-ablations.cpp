// What LEEP's parts are good for: without the penalty, with the average as its link, and Distral.
#include "agent_games.h"

namespace agora::reproduce {
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
      task.quick() ? GameSize{20, 200'000, 2, 300} : GameSize{200, 25'000'000, 25, 1'000});
}

std::vector<double> disagreement(const std::vector<Json>& results, const std::string& stage) {
  return numbers_at(results, JsonPath("/" + stage + "/numbers/disagreement"));
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  const auto leep = earned(results, "leep", "test");
  for (const GameLearner& learner : kLearners) {
    if (learner.stage == "leep") continue;
    const std::string what = "unseen levels: LEEP's return less that of " + learner.words;
    const auto ours = less(leep, earned(results, learner.stage, "test"));
    found.findings.push_back(scale == Scale::kQuick
                                 ? not_judged(what, "> 0", ours, "200,000 steps cannot tell")
                                 : finding(what, "> 0", ours, at_least(0.0)));
  }
  for (const std::string stage : {"leep", "leep-average", "distral"}) {
    found.findings.push_back(finding(stage + ": divergence that the penalty leaves",
                                     "close to each other", disagreement(results, stage),
                                     at_most(0.2)));
  }
  found.findings.push_back(finding("PPO's gap less LEEP's", "> 0",
                                   less(gap(results, "ppo"), gap(results, "leep")),
                                   at_least(scale == Scale::kQuick ? 0.2 : 0.0)));
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
                    .words = "20 levels of the symbolic maze, 200,000 steps"},
          .full = {.seeds = {1, 2, 3, 4, 5},
                   .expected_seconds = 1'500'000,
                   .words = "200 levels of Procgen's maze, 25 million steps"},
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce

// Few training levels: PPO learns them by heart and gets worse on all others, LEEP does not.
#include "agent_games.h"

namespace agora::reproduce::kind_ch3_fifty_levels {
namespace {

const std::vector<GameLearner> kLearners{{"ppo", "PPO", "maze", "ppo", {}, true},
                                         {"leep", "LEEP", "maze", "leep", {}, true}};

GameSize size(const Task& task) {
  return task.quick() ? GameSize{10, 1'000'000, 3, 600} : GameSize{50, 25'000'000, 25, 1'000};
}

Json run(Task& task) { return learn_games(task, kLearners, size(task)); }

// The return on unseen levels at the end, less the best on the way.
std::vector<double> change(const std::vector<Json>& results, const std::string& stage) {
  std::vector<double> all;
  for (const Json& result : results) {
    double best = -1e30, last = 0;
    for (const Json& look : result.at(stage).at("seen")) {
      last = look.at("test").get<double>();
      best = std::max(best, last);
    }
    all.push_back(last - best);
  }
  return all;
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  const auto ppo = gap(results, "maze", "ppo"), leep = gap(results, "maze", "leep");
  found.findings.push_back(finding("PPO: what it earns more on training levels than on unseen ones",
                                   "> 0", ppo, at_least(0.8)));
  found.findings.push_back(finding("PPO's gap less LEEP's", "> 0", less(ppo, leep), at_least(0.3)));
  const std::vector<double> ahead =
      less(earned(results, "leep", "test"), earned(results, "ppo", "test"));
  if (scale == Scale::kQuick) {
    const char* const why = "PPO forgets how to generalise only after more steps";
    found.findings.push_back(
        not_judged("unseen levels: LEEP's return less PPO's", "> 0", ahead, why));
    found.findings.push_back(not_judged("unseen levels: PPO's return at the end less its best",
                                        "decreases through training", change(results, "ppo"), why));
  } else {
    found.findings.push_back(
        finding("unseen levels: LEEP's return less PPO's", "> 0", ahead, at_least(0.5)));
    found.findings.push_back(finding("unseen levels: PPO's return at the end less its best",
                                     "decreases through training", change(results, "ppo"),
                                     at_most(-0.5)));
    found.findings.push_back(finding("unseen levels: LEEP's return at the end less its best",
                                     "avoids this degradation", change(results, "leep"),
                                     at_least(-0.5)));
  }
  found.charts.emplace_back(returns_chart("Maze with few training levels", results, kLearners));
  found.remark = kEmbedded;
  return found;
}

}  // namespace

Experiment entry_ch3_fifty_levels() {
  return {.name = "ch3-fifty-levels",
          .chapter = 3,
          .title = "Few training levels: what PPO forgets and LEEP keeps",
          .source = "ch. 3, Experiments, fig. ablations (top)",
          .quick = {.seeds = {1},
                    .expected_seconds = 30,
                    .words = "10 levels of the symbolic maze, a million steps"},
          .full = {.seeds = {1, 2, 3, 4, 5},
                   .expected_seconds = 500'000,
                   .words = "50 levels of Procgen's maze, 25 million steps",
                   .gpu = true},
          .missing = missing_games,
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_fifty_levels

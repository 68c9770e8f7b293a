// A policy with a memory: LEEP as it is, and with a search through the places of the episode.
#include <fmt/format.h>

#include "agent_games.h"

namespace agora::reproduce::kind_beyond_memory {
namespace {

struct Known {
  std::string game;
  double expgen;  // on unseen levels, read off its figure: 100 million more steps, ten agents
};
const std::vector<Known> kGames{{"maze", 8.2}, {"heist", 7.4}};

std::vector<GameLearner> learners(const std::string& game) {
  return {{game + "-leep", "LEEP", game, "leep", {}, true},
          {game + "-memory", "LEEP with a memory", game, "leep-memory", {}, true}};
}

Json run(Task& task) {
  std::vector<GameLearner> all;
  for (const Known& each : kGames) {
    for (GameLearner& learner : learners(each.game)) all.push_back(std::move(learner));
  }
  return learn_games(
      task, all,
      task.quick() ? GameSize{200, 98'304, 2, 256} : GameSize{200, 25'000'000, 5, 1'000});
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  for (const auto& [game, expgen] : kGames) {
    const auto without = earned(results, game + "-leep", "test"),
               with = earned(results, game + "-memory", "test");
    found.findings.push_back(finding(game + ": what a memory adds on unseen levels", "> 0",
                                     less(with, without), at_least(1.0)));
    const std::string what = game + ": LEEP with a memory on unseen levels";
    const std::string printed = fmt::format("{:g} (ExpGen)", expgen);
    found.findings.push_back(scale == Scale::kQuick
                                 ? not_judged(what, printed, with, "another game, fewer steps")
                                 : finding(what, printed, with, at_least(expgen)));
    found.charts.emplace_back(returns_chart(game, results, learners(game)));
  }
  found.remark =
      "Both are learned alike; one is deployed with a search through what its episode has shown. "
      "ExpGen, the best published on these two games, explores by a learned policy instead.";
  return found;
}

}  // namespace

Experiment entry_beyond_memory() {
  return {.name = "beyond-memory",
          .chapter = 3,
          .title = "LEEP that remembers its episode",
          .source = "beyond ch. 3; ExpGen (Zisselman et al., 2023)",
          .quick = {.seeds = {1},
                    .expected_seconds = 15,
                    .words = "200 levels of the symbolic maze and heist, 98,304 steps"},
          .full = {.seeds = {1, 2, 3},
                   .expected_seconds = 500'000,
                   .words = "200 levels of Procgen's maze and heist, 25 million steps",
                   .gpu = true},
          .missing = missing_games,
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_beyond_memory

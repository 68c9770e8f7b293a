// How many members an ensemble needs: 1, 2, 4 and 8.
#include <fmt/format.h>

#include "agent_games.h"

namespace agora::reproduce::kind_ch3_members {
namespace {

struct Published {
  int members;
  double mean, error;  // on unseen levels of Procgen's maze
};
const Published kTable[] = {{1, 5.11, 0.24}, {2, 5.85, 0.4}, {4, 6.53, 0.12}, {8, 6.91, 0.1}};

std::string stage_of(int members) { return fmt::format("n{}", members); }

std::vector<GameLearner> learners() {
  std::vector<GameLearner> all;
  for (const Published& each : kTable) {
    all.push_back({stage_of(each.members),
                   fmt::format("n = {}", each.members),
                   "maze",
                   "leep",
                   {{"members", each.members}}});
  }
  return all;
}

Json run(Task& task) {
  return learn_games(
      task, learners(),
      task.quick() ? GameSize{10, 100'000, 2, 200} : GameSize{200, 25'000'000, 25, 1'000});
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  const bool quick = scale == Scale::kQuick;
  for (const auto& [members, mean, error] : kTable) {
    const auto ours = earned(results, stage_of(members), "test");
    const std::string what = fmt::format("n = {}: return on unseen levels", members);
    const std::string printed = fmt::format("{:g} ± {:g}", mean, error);
    found.findings.push_back(
        quick ? not_judged(what, printed, ours, "another game, fewer levels and steps")
              : finding(what, printed, ours, at_least(mean - 3 * error)));
  }
  found.findings.push_back(finding("divergence of a single member from itself", "0",
                                   divergence(results, "n1"), at_most(1e-6)));
  for (const GameLearner& learner : learners()) {
    if (learner.stage == "n1") continue;
    const std::string what = "divergence of a member from what all make together, " + learner.words;
    const auto ours = divergence(results, learner.stage);
    found.findings.push_back(quick ? finding(what, "", ours, between(1e-5, 0.006))
                                   : not_judged(what, "", ours, "no value is printed"));
  }
  found.charts.emplace_back(returns_chart("Maze, members of LEEP", results, learners()));
  found.remark = kEmbedded;
  return found;
}

}  // namespace

Experiment entry_ch3_members() {
  return {.name = "ch3-members",
          .chapter = 3,
          .title = "LEEP with 1, 2, 4 and 8 members",
          .source = "ch. 3, Ablations of LEEP Hyperparameters, first table",
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

}  // namespace agora::reproduce::kind_ch3_members

// LEEP and PPO on four games: what each earns on training levels and on unseen ones.
#include <fmt/format.h>

#include "agent_games.h"

namespace agora::reproduce::kind_ch3_four_games {
namespace {

struct Published {
  std::string game;
  double ppo, ppo_error, leep, leep_error;  // on unseen levels
};
const std::vector<Published> kGames{{"maze", 5.11, 0.24, 6.53, 0.12},
                                    {"heist", 2.84, 0.46, 3.73, 0.45},
                                    {"bigfish", 3.89, 1.64, 4.16, 0.42},
                                    {"dodgeball", 1.68, 0.33, 1.69, 0.18}};
constexpr size_t kEmbeddedGames = 2;

std::vector<Published> games(Scale scale) {
  std::vector<Published> all = kGames;
  if (scale == Scale::kQuick) all.resize(kEmbeddedGames);
  return all;
}

std::vector<GameLearner> learners(const std::string& game) {
  return {{game + "-ppo", "PPO", game, "ppo", {}, true},
          {game + "-leep", "LEEP", game, "leep", {}, true}};
}

Json run(Task& task) {
  std::vector<GameLearner> all;
  for (const Published& each : games(task.scale)) {
    for (GameLearner& learner : learners(each.game)) all.push_back(std::move(learner));
  }
  return learn_games(
      task, all,
      task.quick() ? GameSize{10, 490'000, 2, 500} : GameSize{200, 25'000'000, 25, 1'000});
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  const bool quick = scale == Scale::kQuick;
  for (const auto& [game, ppo, ppo_error, leep, leep_error] : games(scale)) {
    const std::string first = game + "-ppo", second = game + "-leep";
    for (const GameLearner& learner : learners(game)) {
      found.findings.push_back(learned(learner, results, 0.2));
    }
    const auto less_gap = less(gap(results, game, first), gap(results, game, second));
    const std::string what = game + ": PPO's gap between training and unseen levels less LEEP's";
    found.findings.push_back(
        quick ? not_judged(what, "> 0", less_gap, "ch3-fifty-levels does, with more steps")
              : finding(what, "> 0", less_gap, at_least(0.0)));
    const std::pair<std::string, std::pair<double, double>> values[] = {
        {first, {ppo, ppo_error}}, {second, {leep, leep_error}}};
    for (const auto& [stage, value] : values) {
      const auto [mean, error] = value;
      const std::string which =
          fmt::format("{}: {} on unseen levels", game, stage == first ? "PPO" : "LEEP");
      const std::string printed = fmt::format("{:g} ± {:g}", mean, error);
      const auto ours = earned(results, stage, "test");
      found.findings.push_back(
          quick ? not_judged(which, printed, ours, "another game, fewer levels and steps")
                : finding(which, printed, ours, at_least(mean - 3 * error)));
    }
    found.charts.emplace_back(returns_chart(game, results, learners(game)));
  }
  found.remark = kEmbedded;
  return found;
}

}  // namespace

Experiment entry_ch3_four_games() {
  return {.name = "ch3-four-games",
          .chapter = 3,
          .title = "LEEP and PPO on four games, training and unseen levels",
          .source = "ch. 3, Experiments, and Main Experimental Results",
          .quick = {.seeds = {1},
                    .expected_seconds = 30,
                    .words = "10 levels of the symbolic maze and heist, 490,000 steps"},
          .full = {.seeds = {1, 2, 3, 4, 5},
                   .expected_seconds = 2'000'000,
                   .words = "200 levels of Procgen's games, 25 million steps",
                   .gpu = true},
          .missing = missing_games,
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_four_games

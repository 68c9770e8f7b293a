// A recurrent encoder that tells the training level apart is no help on unseen ones.
#include "agent_games.h"

namespace agora::reproduce::kind_ch3_context {
namespace {

struct Published {
  std::string game, ppo, context, leep;  // on unseen levels
};
const std::vector<Published> kGames{{"maze", "5.11 ± 0.24", "5.25 ± 0.5", "6.53 ± 0.12"},
                                    {"heist", "2.84 ± 0.46", "2.83 ± 1.04", "3.73 ± 0.45"},
                                    {"bigfish", "3.89 ± 1.64", "2.74 ± 1.1", "4.16 ± 0.42"},
                                    {"dodgeball", "1.68 ± 0.33", "1.57 ± 0.3", "1.69 ± 0.18"}};

size_t count(Scale scale) { return scale == Scale::kQuick ? 1 : kGames.size(); }

std::vector<GameLearner> learners(const std::string& game) {
  return {{game + "-ppo", "PPO", game, "ppo"},
          {game + "-context", "PPO + recurrent context encoder", game, "ppo-context"}};
}

Json run(Task& task) {
  std::vector<GameLearner> all;
  for (size_t k = 0; k < count(task.scale); ++k) {
    for (GameLearner& each : learners(kGames[k].game)) all.push_back(std::move(each));
  }
  return learn_games(
      task, all,
      task.quick() ? GameSize{10, 200'000, 2, 300} : GameSize{200, 25'000'000, 25, 1'000});
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  for (size_t k = 0; k < count(scale); ++k) {
    const Published& game = kGames[k];
    const std::string context = game.game + "-context", ppo = game.game + "-ppo";
    found.findings.push_back(
        finding(scale, game.game + ": share of training levels that the encoder tells rightly",
                "> 0.99", numbers_at(results, JsonPath("/" + context + "/numbers/level_accuracy")),
                at_least(0.99), at_least(0.9)));
    found.findings.push_back(
        finding(game.game + ": what the context gains on unseen levels", "no gain",
                less(earned(results, context, "test"), earned(results, ppo, "test")),
                at_most(scale == Scale::kQuick ? 1.5 : 0.8)));
    if (scale == Scale::kFull) {
      found.findings.push_back(finding(game.game + ": gap of the policy with a context", "> 0",
                                       gap(results, game.game, context), at_least(0.0)));
    }
    found.findings.push_back(not_judged(game.game + ": PPO on unseen levels", game.ppo,
                                        earned(results, ppo, "test"), "ch3-four-games does"));
    found.findings.push_back(not_judged(game.game + ": with a context on unseen levels",
                                        game.context, earned(results, context, "test"),
                                        "by what it gains"));
    found.charts.emplace_back(
        returns_chart(game.game + ", recurrent context", results, learners(game.game)));
  }
  found.remark = kEmbedded;
  return found;
}

}  // namespace

Experiment entry_ch3_context() {
  return {.name = "ch3-context",
          .chapter = 3,
          .title = "A recurrent context encoder: sure of the level, no gain on unseen ones",
          .source = "ch. 3, app. recurrent_context",
          .quick = {.seeds = {1},
                    .expected_seconds = 15,
                    .words = "10 levels of the symbolic maze, 200,000 steps"},
          .full = {.seeds = {1, 2, 3, 4, 5},
                   .expected_seconds = 2'000'000,
                   .words = "200 levels of Procgen's games, 25 million steps",
                   .gpu = true},
          .missing = missing_games,
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_context

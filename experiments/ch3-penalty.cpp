// How strongly members are drawn to what they make together: the penalty from 0 to 100.
#include <fmt/format.h>

#include "agent_games.h"

namespace agora::reproduce::kind_ch3_penalty {
namespace {

const double kPenalties[] = {0, 0.01, 0.1, 1, 10, 100};
struct Published {
  std::string game;
  std::vector<std::string> printed;  // on unseen levels, one for each penalty
  double best;                       // that of penalty 1
};
const std::vector<Published> kGames{
    {"maze", {"5.78", "5.725", "5.94 ± 0.22", "6.53 ± 0.12", "6.54 ± 0.15", "5.7"}, 6.53},
    {"heist", {"3.3", "3.4", "3.2 ± 0.6", "3.73 ± 0.45", "3.65 ± 0.5", "3.15"}, 3.73},
    {"bigfish", {"1.57", "2.35", "2.85 ± 0.64", "4.16 ± 0.42", "3.30 ± 0.38", "1.21"}, 4.16},
    {"dodgeball", {"0.65", "0.94", "0.78 ± 0.2", "1.69 ± 0.18", "1.42 ± 0.4", "1.64"}, 1.69}};

size_t count(Scale scale) { return scale == Scale::kQuick ? 1 : kGames.size(); }
std::string stage_of(const std::string& game, double penalty) {
  return fmt::format("{}-{:g}", game, penalty);
}

// A penalty of nothing is an ensemble deployed by LEEP's link.
std::vector<GameLearner> learners(const std::string& game) {
  std::vector<GameLearner> all;
  for (const double penalty : kPenalties) {
    all.push_back({stage_of(game, penalty),
                   fmt::format("penalty {:g}", penalty),
                   game,
                   "leep",
                   {{"penalty", penalty}}});
  }
  return all;
}

Json run(Task& task) {
  std::vector<GameLearner> all;
  for (size_t k = 0; k < count(task.scale); ++k) {
    for (GameLearner& each : learners(kGames[k].game)) all.push_back(std::move(each));
  }
  return learn_games(
      task, all,
      task.quick() ? GameSize{10, 100'000, 2, 200} : GameSize{200, 25'000'000, 25, 1'000});
}

Judgement judge(Scale scale, const std::vector<Json>& results) {
  Judgement found;
  for (size_t k = 0; k < count(scale); ++k) {
    const Published& game = kGames[k];
    for (size_t p = 0; p < std::size(kPenalties); ++p) {
      const std::string what =
          fmt::format("{}, penalty {:g}: return on unseen levels", game.game, kPenalties[p]);
      const auto ours = earned(results, stage_of(game.game, kPenalties[p]), "test");
      found.findings.push_back(
          scale == Scale::kQuick
              ? not_judged(what, game.printed[p], ours, "another game, fewer levels and steps")
              : finding(what, game.printed[p], ours, between(0, 10)));
    }
    const auto left = [&](double penalty) {
      return divergence(results, stage_of(game.game, penalty));
    };
    // Ten times the penalty leaves less than this share of the divergence.
    for (const auto& [penalty, share] : {std::pair(0.1, 0.85), {1.0, 0.4}, {10.0, 0.4}}) {
      std::vector<double> shares = left(penalty);
      const std::vector<double> weaker = left(penalty / 10);
      for (size_t seed = 0; seed < shares.size(); ++seed) shares[seed] /= weaker[seed];
      found.findings.push_back(
          finding(fmt::format("{}: divergence with penalty {:g} over that with {:g}", game.game,
                              penalty, penalty / 10),
                  "< 1", shares, at_most(share)));
    }
    found.charts.emplace_back(
        returns_chart(game.game + ", LEEP's penalty", results, learners(game.game)));
  }
  found.remark = kEmbedded;
  return found;
}

}  // namespace

Experiment entry_ch3_penalty() {
  return {.name = "ch3-penalty",
          .chapter = 3,
          .title = "LEEP's penalty from 0 to 100",
          .source = "ch. 3, Ablations of LEEP Hyperparameters, second table",
          .quick = {.seeds = {1},
                    .expected_seconds = 30,
                    .words = "10 levels of the symbolic maze, 100,000 steps"},
          .full = {.seeds = {1},
                   .expected_seconds = 2'500'000,
                   .words = "200 levels of Procgen's games, 25 million steps",
                   .gpu = true},
          .missing = missing_games,
          .run = run,
          .judge = judge};
}

}  // namespace agora::reproduce::kind_ch3_penalty

#pragma once
#include <string>
#include <vector>

#include "agents/procgen/library.h"
#include "reproduce/agent_stages.h"

namespace agora::reproduce {

// A policy of an experiment of chapter 3.
struct GameLearner {
  std::string stage, words, game, algorithm;  // game: maze, heist, bigfish, dodgeball
  Arguments arguments = {};
  bool filmed = false;
};

// Quick scale plays the embedded games in symbols, full scale the real ones.
struct GameSize {
  int64_t levels, steps;
  int looks;
  int64_t episodes;
};

inline std::string played_game(const Task& task, const std::string& game) {
  return task.quick() ? game : "procgen/" + game;
}

inline std::string missing_games(Scale scale) {
  return scale == Scale::kQuick ? "" : agents::procgen::missing();
}

inline std::string film_name(const GameLearner& learner) {
  return learner.filmed ? learner.words + "-in-" + learner.game + "-on-unseen-levels" : "";
}

// A stage for each learner, and GAME-random: what random actions earn there.
inline Json learn_games(Task& task, const std::vector<GameLearner>& learners,
                        const GameSize& size) {
  Stages stages(task);
  Json result = Json::object();
  for (const GameLearner& learner : learners) {
    const AgentTraining training{.algorithm = learner.algorithm,
                                 .options = {.environment = played_game(task, learner.game),
                                             .levels = agents::Levels::range(0, size.levels),
                                             .steps = size.steps,
                                             .seed = task.seed,
                                             .arguments = learner.arguments},
                                 .looks = size.looks,
                                 .episodes = size.episodes,
                                 .film = film_name(learner)};
    const std::string random = learner.game + "-random";
    if (!result.contains(random)) {
      result[random] = stages.stage(random, [&] { return random_returns(training); });
    }
    result[learner.stage] =
        stages.stage(learner.stage, [&] { return learn_agent(stages, training); });
  }
  return result;
}

// Of every seed: what was earned on levels of one kind ("train", "test").
inline std::vector<double> earned(const std::vector<Json>& results, const std::string& stage,
                                  const std::string& levels) {
  return numbers_at(results, JsonPath("/" + stage) / levels);
}
inline std::vector<double> less(std::vector<double> one, const std::vector<double>& other) {
  for (size_t k = 0; k < one.size(); ++k) one[k] -= other[k];
  return one;
}
// How much more was learned of training levels than of unseen ones: the gap between them, less that
// of random actions, since few levels may be easier or harder than all.
inline std::vector<double> gap(const std::vector<Json>& results, const std::string& game,
                               const std::string& stage) {
  const std::string random = game + "-random";
  return less(less(earned(results, stage, "train"), earned(results, random, "train")),
              less(earned(results, stage, "test"), earned(results, random, "test")));
}

// What was learned of the training levels, over random actions.
inline Finding learned(const GameLearner& learner, const std::vector<Json>& results,
                       double at_the_least) {
  return finding(learner.game + ": " + learner.words + " on training levels, over random actions",
                 "> 0",
                 less(earned(results, learner.stage, "train"),
                      earned(results, learner.game + "-random", "train")),
                 at_least(at_the_least));
}
inline std::vector<double> divergence(const std::vector<Json>& results, const std::string& stage) {
  return numbers_at(results, JsonPath("/" + stage + "/numbers/disagreement"));
}

// Curves of some learners on seen (dashed) and unseen levels.
inline report::LineChart returns_chart(const std::string& title, const std::vector<Json>& results,
                                       const std::vector<GameLearner>& learners) {
  report::LineChart chart{
      .title = title, .x = {.title = "environment steps"}, .y = {.title = "return"}};
  for (const GameLearner& learner : learners) {
    chart.series.push_back(
        seen_curve(learner.words + ", unseen levels", results, learner.stage, "steps", "test"));
    report::Series train =
        seen_curve(learner.words + ", training levels", results, learner.stage, "steps", "train");
    train.dashed = true;
    chart.series.push_back(std::move(train));
  }
  return chart;
}

inline const char* const kEmbedded =
    "Quick scale plays the embedded symbolic games with small networks for few steps; full scale "
    "plays real Procgen for 25 million steps with IMPALA networks, which takes a GPU.";

}  // namespace agora::reproduce

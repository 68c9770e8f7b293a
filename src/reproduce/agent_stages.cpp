#include "reproduce/agent_stages.h"

#include "base/files.h"
#include "report/film.h"

namespace agora::reproduce {
namespace {

constexpr int64_t kFilmed = 3, kPicturesASecond = 15;  // episodes of a film
constexpr size_t kMostPictures = 150;

agents::EvaluationOptions evaluation_of(const AgentTraining& training,
                                        const agents::Levels& levels) {
  return {.environment = training.options.environment,
          .environment_arguments = training.options.environment_arguments,
          .levels = levels,
          .episodes = training.episodes,
          .seed = training.options.seed + 1};
}

agents::Evaluation played(const agents::SavedPolicy& policy, const AgentTraining& training,
                          const agents::Levels& levels) {
  const agents::EvaluationOptions how = evaluation_of(training, levels);
  return agents::evaluate(*agents::make_policy(policy, how.environments), how);
}

agents::Levels unseen_by(const AgentTraining& training) {
  const int64_t seen = training.options.levels.size();
  return agents::Levels::range(seen, agents::Levels::kAll - seen);
}

}  // namespace

Json learn_agent(Stages& stages, const AgentTraining& training) {
  const auto learner = agents::algorithm_named(training.algorithm).make(training.options);
  const agents::Levels& seen = training.options.levels;
  const agents::Levels unseen = unseen_by(training);
  const auto look = [&](int64_t) {
    const agents::SavedPolicy policy = learner->policy();
    const agents::Evaluation train = played(policy, training, seen);
    const agents::Evaluation test = played(policy, training, unseen);
    Json numbers = Json::object();
    for (const auto& [name, value] : learner->numbers()) numbers[name] = value;
    return Json{{"steps", learner->environment_steps()}, {"train", train.mean},
                {"train_ci", {train.low, train.high}},   {"test", test.mean},
                {"test_ci", {test.low, test.high}},      {"numbers", std::move(numbers)}};
  };
  Json all = stages.learn(*learner, {.points = training.looks, .look = look});
  if (!training.film.empty()) {
    keep_film(stages, training.film, learner->policy(), evaluation_of(training, unseen), kFilmed);
  }
  Json last = all[all.size() - 1];
  last["seen"] = std::move(all);
  return last;
}

void keep_film(const Stages& stages, const std::string& name, const agents::SavedPolicy& policy,
               agents::EvaluationOptions how, int64_t episodes) {
  how.episodes = episodes;
  const report::Film made =
      report::film(*agents::make_policy(policy, 1), how, kPicturesASecond, kMostPictures);
  write_atomically(stages.folder() / (name + ".png"), report::encode_apng(made.frames));
}

Json random_returns(const AgentTraining& training) {
  const agents::AgentOptions& options = training.options;
  const auto world = agents::make_environment(
      options.environment,
      {.levels = options.levels, .count = 1, .arguments = options.environment_arguments});
  const auto policy = agents::random_policy(world->space());
  const auto mean = [&](const agents::Levels& played_on) {
    return agents::evaluate(*policy, evaluation_of(training, played_on)).mean;
  };
  return {{"train", mean(options.levels)}, {"test", mean(unseen_by(training))}};
}

}  // namespace agora::reproduce

#include "reproduce/agent_stages.h"

#include "agents/evaluation/evaluate.h"

namespace agora::reproduce {
namespace {

agents::Evaluation played(const agents::SavedPolicy& policy, const AgentTraining& training,
                          const agents::Levels& levels) {
  const agents::EvaluationOptions how{
      .environment = training.options.environment,
      .environment_arguments = training.options.environment_arguments,
      .levels = levels,
      .episodes = training.episodes,
      .seed = training.options.seed + 1};
  return agents::evaluate(*agents::make_policy(policy, how.environments), how);
}

}  // namespace

Json learn_agent(Stages& stages, const AgentTraining& training) {
  const auto learner = agents::algorithm_named(training.algorithm).make(training.options);
  const agents::Levels& seen = training.options.levels;
  const auto unseen = agents::Levels::range(seen.size(), agents::Levels::kAll - seen.size());
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
  Json last = all[all.size() - 1];
  last["seen"] = std::move(all);
  return last;
}

}  // namespace agora::reproduce

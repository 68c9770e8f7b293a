#pragma once
#include <string>
#include <vector>

#include "agents/algorithm.h"
#include "agents/evaluation/evaluate.h"
#include "reproduce/stages.h"

// Stages that learn policies, and what these earn on seen and unseen levels.
namespace agora::reproduce {

struct AgentTraining {
  std::string algorithm;
  agents::AgentOptions options;  // levels from 0 on
  int looks = 8;
  int64_t episodes = 500;  // of every look, on seen and on unseen levels
  std::string film = {};   // of what was learned, on unseen levels, by this name; "": none
};

// {"steps", "train", "test": what is earned, with 95 % intervals "train_ci" and "test_ci",
// "numbers" of the learner} at the end, and "seen": the same look by look. At most one training per
// stage.
Json learn_agent(Stages& stages, const AgentTraining& training);

// Some episodes as a film of the task's folder, which the report shows under its name: its words
// joined by hyphens.
void keep_film(const Stages& stages, const std::string& name, const agents::SavedPolicy& policy,
               agents::EvaluationOptions how, int64_t episodes);

// What random actions earn on the training's levels and on all others: {"train", "test"}.
Json random_returns(const AgentTraining& training);

}  // namespace agora::reproduce

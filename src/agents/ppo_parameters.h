#pragma once
#include "agents/ppo_ensemble.h"
#include "base/parameter.h"

namespace agora::agents {

// What all that learn by PPO can be told; `rollout` is the preset of steps between two updates.
std::vector<Parameter> ppo_parameters(int64_t rollout = 256);
Parameter members_parameter();
EnsembleOptions ensemble_told(const Told& told);

}  // namespace agora::agents

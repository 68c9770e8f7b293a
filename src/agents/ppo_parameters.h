#pragma once
#include "agents/ppo_ensemble.h"
#include "base/parameter.h"

namespace agora::agents {

// What all that learn by PPO can be told.
std::vector<Parameter> ppo_parameters();
std::vector<Parameter> ppo_parameters(const std::vector<std::string>& names);  // some of them
Parameter members_parameter();
Parameter penalty_parameter();
EnsembleOptions ensemble_told(const Told& told);
// Linked ensembles for the epistemic POMDP, whatever they are deployed with.
std::vector<Parameter> leep_parameters();
EnsembleOptions leep_told(const Told& told);

}  // namespace agora::agents

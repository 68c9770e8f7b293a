#pragma once
#include <functional>
#include <string>
#include <vector>

#include "agents/ppo_ensemble.h"
#include "base/parameter.h"

namespace agora::agents {

// An algorithm of policies that learn by PPO; how, follows from what it is told.
Algorithm of_ppo(std::string name, std::string summary, std::vector<Parameter> parameters,
                 const std::function<EnsembleOptions(const Told&)>& how);

// What all that learn by PPO can be told.
std::vector<Parameter> ppo_parameters();
std::vector<Parameter> ppo_parameters(const std::vector<std::string>& names);  // some of them
EnsembleOptions ensemble_told(const Told& told);
// The same with a value network of its own.
std::vector<Parameter> separate_parameters();
EnsembleOptions separate_told(const Told& told);

// A policy and a value that see no difference in a picture that was moved.
std::vector<Parameter> invariance_parameters();
Invariance invariance_told(const Told& told);

Parameter members_parameter();
Parameter penalty_parameter();
// What makes linked ensembles for the epistemic POMDP of any of them.
std::vector<Parameter> link_parameters();
EnsembleOptions linked(EnsembleOptions how, const Told& told);
// LEEP itself, whatever it is deployed with.
std::vector<Parameter> leep_parameters();
EnsembleOptions leep_told(const Told& told);

// An explorer beside the members.
std::vector<Parameter> explorer_parameters();
ExplorerOptions explorer_told(const Told& told);

// Prioritised level replay.
std::vector<Parameter> replay_parameters();
LevelReplay replay_told(const Told& told);

}  // namespace agora::agents

#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_ensemble {
namespace {

std::vector<Parameter> parameters() { return both(ppo_parameters(), {members_parameter()}); }

}  // namespace

// Bayesian model averaging: the same members without a penalty, deployed as their mean.
Algorithm entry_ensemble() {
  return {
      .name = "ensemble",
      .summary = "PPO policies on bootstrapped levels that know nothing of each other, averaged",
      .parameters = parameters(),
      .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
        const Told told("ensemble", parameters(), options.arguments);
        EnsembleOptions how = ensemble_told(told);
        how.members = told.whole<int64_t>("members");
        how.deployed = Link::kAverage;
        how.levels = EnsembleOptions::Levels::kBootstrap;
        return std::make_unique<PpoEnsemble>(options, how);
      }};
}

}  // namespace agora::agents::kind_ensemble

#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep {
namespace {

std::vector<Parameter> parameters() {
  return both(ppo_parameters(),
              {members_parameter(), penalty_parameter(),
               flag("average", "link the members by their mean, not by the largest")});
}

}  // namespace

// Linked ensembles for the epistemic POMDP (thesis, alg. algobox): members on bootstrap samples of
// the levels, each drawn to the normalised maximum of all, which is what is deployed.
Algorithm entry_leep() {
  return {.name = "leep",
          .summary =
              "linked ensembles for the epistemic POMDP: PPO on bootstrapped levels, tied together",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("leep", parameters(), options.arguments);
            EnsembleOptions how = ensemble_told(told);
            how.members = told.whole<int64_t>("members");
            how.deployed = told.flag("average") ? Link::kAverage : Link::kMax;
            how.pull = {.penalty = told.number("penalty"), .link = how.deployed};
            how.levels = EnsembleOptions::Levels::kBootstrap;
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_leep

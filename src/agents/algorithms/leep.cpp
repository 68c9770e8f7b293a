#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents {
namespace {

std::vector<Parameter> parameters() {
  return both(ppo_parameters(),
              {members_parameter(),
               {"penalty", 1.0, 0, kFinite, false,
                "weight of a member's divergence from what all make together"},
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
            how.penalty = told.number("penalty");
            how.link = told.flag("average") ? Link::kAverage : Link::kMax;
            how.bootstrap = true;
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents

#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_distral {
namespace {

std::vector<Parameter> parameters() {
  return both(ppo_parameters(), {members_parameter(), penalty_parameter()});
}

}  // namespace

// Distral (Teh et al. 2017): members on parts of the levels that share none, each drawn to one
// policy that imitates all of them, which is what is deployed.
Algorithm entry_distral() {
  return {.name = "distral",
          .summary = "PPO on disjoint parts of the levels, tied to one distilled policy",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("distral", parameters(), options.arguments);
            EnsembleOptions how = ensemble_told(told);
            how.members = told.whole<int64_t>("members");
            how.pull = {.penalty = told.number("penalty"), .link = {}};
            how.levels = EnsembleOptions::Levels::kParts;
            how.distilled = true;
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_distral

#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_drac {
namespace {

std::vector<Parameter> parameters() { return both(ppo_parameters(), invariance_parameters()); }

}  // namespace

// Data-regularised actor-critic (Raileanu et al., 2021) with pictures moved at random. Published on
// Procgen, easy, 25 million steps, with a choice among kinds of augmentation and prioritised levels
// beside it (UCB-DrAC + PLR): maze 7.2, heist 4.9, bigfish 14.3, dodgeball 10.3.
Algorithm entry_drac() {
  return {.name = "drac",
          .summary = "PPO whose policy and value are drawn to be the same where a picture is moved",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("drac", parameters(), options.arguments);
            EnsembleOptions how = ensemble_told(told);
            how.ppo.invariance = invariance_told(told);
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_drac

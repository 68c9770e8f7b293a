#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep {

// Linked ensembles for the epistemic POMDP (thesis, alg. algobox): members on bootstrap samples of
// the levels, each drawn to the normalised maximum of all, which is what is deployed.
Algorithm entry_leep() {
  return {.name = "leep",
          .summary =
              "linked ensembles for the epistemic POMDP: PPO on bootstrapped levels, tied together",
          .parameters = leep_parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("leep", leep_parameters(), options.arguments);
            return std::make_unique<PpoEnsemble>(options, leep_told(told));
          }};
}

}  // namespace agora::agents::kind_leep

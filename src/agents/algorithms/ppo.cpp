#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_ppo {

Algorithm entry_ppo() {
  return {.name = "ppo",
          .summary = "proximal policy optimisation, one policy on all training levels",
          .parameters = ppo_parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("ppo", ppo_parameters(), options.arguments);
            return std::make_unique<PpoEnsemble>(options, ensemble_told(told));
          }};
}

}  // namespace agora::agents::kind_ppo

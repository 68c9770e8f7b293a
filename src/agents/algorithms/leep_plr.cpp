#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_plr {
namespace {

std::vector<Parameter> parameters() { return both(leep_parameters(), replay_parameters()); }

}  // namespace

// LEEP whose members choose among the levels of their samples as `plr` does.
Algorithm entry_leep_plr() {
  return {.name = "leep-plr",
          .summary = "LEEP whose members mostly play levels whose values they have most wrong",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("leep-plr", parameters(), options.arguments);
            EnsembleOptions how = leep_told(told);
            how.replay = replay_told(told);
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_leep_plr

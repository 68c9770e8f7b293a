#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_drac {
namespace {

std::vector<Parameter> parameters() { return both(leep_parameters(), invariance_parameters()); }

}  // namespace

// LEEP whose members learn as `drac` does.
Algorithm entry_leep_drac() {
  return {.name = "leep-drac",
          .summary = "LEEP whose members see no difference where a picture is moved",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("leep-drac", parameters(), options.arguments);
            EnsembleOptions how = leep_told(told);
            how.ppo.invariance = invariance_told(told);
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_leep_drac

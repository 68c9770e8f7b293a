#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_expgen {
namespace {

std::vector<Parameter> parameters() { return both(leep_parameters(), explorer_parameters()); }

}  // namespace

// LEEP's linked members, and where they disagree an explorer, as in `expgen`.
Algorithm entry_leep_expgen() {
  return {.name = "leep-expgen",
          .summary = "LEEP with an explorer that acts where its members disagree",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("leep-expgen", parameters(), options.arguments);
            EnsembleOptions how = leep_told(told);
            how.explorer = explorer_told(told);
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_leep_expgen

#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_daac {
namespace {

std::vector<Parameter> parameters() { return both(separate_parameters(), link_parameters()); }

}  // namespace

// LEEP whose members learn as `daac` does.
Algorithm entry_leep_daac() {
  return {.name = "leep-daac",
          .summary = "LEEP whose members have value networks of their own and learn advantages",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("leep-daac", parameters(), options.arguments);
            return std::make_unique<PpoEnsemble>(options, linked(separate_told(told), told));
          }};
}

}  // namespace agora::agents::kind_leep_daac

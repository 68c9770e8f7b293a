#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_memory {
namespace {

std::vector<Parameter> parameters() {
  return both(leep_parameters(), declared(memory_parameters()));
}

}  // namespace

// The best policy of an epistemic POMDP has a memory: what an episode has shown tells levels apart.
// Learned as LEEP, deployed with a search through the places of the episode.
Algorithm entry_leep_memory() {
  return {.name = "leep-memory",
          .summary = "LEEP that remembers the places of an episode and what was tried there",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("leep-memory", parameters(), options.arguments);
            EnsembleOptions how = leep_told(told);
            for (const auto& each : memory_parameters()) {
              each.set(how.memory, told.number(each.name));
            }
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_leep_memory

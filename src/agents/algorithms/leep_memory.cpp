#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_memory {

// The best policy of an epistemic POMDP has a memory: what an episode has shown tells levels apart.
// Learned as LEEP, deployed with a search through the places of the episode.
Algorithm entry_leep_memory() {
  return of_ppo("leep-memory",
                "LEEP that remembers the places of an episode and what was tried there",
                both(leep_parameters(), declared(memory_parameters())), [](const Told& told) {
                  EnsembleOptions how = leep_told(told);
                  for (const auto& each : memory_parameters()) {
                    each.set(how.memory, told.number(each.name));
                  }
                  return how;
                });
}

}  // namespace agora::agents::kind_leep_memory

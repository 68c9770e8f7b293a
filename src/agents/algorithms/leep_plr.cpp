#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep_plr {

// LEEP whose members choose among the levels of their samples as `plr` does.
Algorithm entry_leep_plr() {
  return of_ppo("leep-plr",
                "LEEP whose members mostly play levels whose values they have most wrong",
                both(leep_parameters(), replay_parameters()), [](const Told& told) {
                  EnsembleOptions how = leep_told(told);
                  how.replay = replay_told(told);
                  return how;
                });
}

}  // namespace agora::agents::kind_leep_plr

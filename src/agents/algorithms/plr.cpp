#include "agents/ppo_parameters.h"

namespace agora::agents::kind_plr {

// Prioritised level replay (Jiang, Grefenstette and Rocktaeschel, 2021). Published on Procgen,
// easy, 25 million steps: maze 5.5, heist 2.9, bigfish 10.9, dodgeball 1.8.
Algorithm entry_plr() {
  return of_ppo("plr", "PPO that mostly plays the levels whose values it has most wrong",
                both(ppo_parameters(), replay_parameters()), [](const Told& told) {
                  EnsembleOptions how = ensemble_told(told);
                  how.replay = replay_told(told);
                  return how;
                });
}

}  // namespace agora::agents::kind_plr

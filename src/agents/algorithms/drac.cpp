#include "agents/ppo_parameters.h"

namespace agora::agents::kind_drac {

// Data-regularised actor-critic (Raileanu et al., 2021) with pictures moved at random. Published on
// Procgen, easy, 25 million steps, with a choice among kinds of augmentation and prioritised levels
// beside it (UCB-DrAC + PLR): maze 7.2, heist 4.9, bigfish 14.3, dodgeball 10.3.
Algorithm entry_drac() {
  return of_ppo("drac",
                "PPO whose policy and value are drawn to be the same where a picture is moved",
                both(ppo_parameters(), invariance_parameters()), [](const Told& told) {
                  EnsembleOptions how = ensemble_told(told);
                  how.ppo.invariance = invariance_told(told);
                  return how;
                });
}

}  // namespace agora::agents::kind_drac

#include "agents/ppo_parameters.h"

namespace agora::agents::kind_distral {

// Distral (Teh et al. 2017): members on parts of the levels that share none, each drawn to one
// policy that imitates all of them, which is what is deployed.
Algorithm entry_distral() {
  return of_ppo("distral", "PPO on disjoint parts of the levels, tied to one distilled policy",
                both(ppo_parameters(), {members_parameter(), penalty_parameter()}),
                [](const Told& told) {
                  EnsembleOptions how = ensemble_told(told);
                  how.members = told.whole<int64_t>("members");
                  how.pull = {.penalty = told.number("penalty"), .link = {}};
                  how.levels = EnsembleOptions::Levels::kParts;
                  how.distilled = true;
                  return how;
                });
}

}  // namespace agora::agents::kind_distral

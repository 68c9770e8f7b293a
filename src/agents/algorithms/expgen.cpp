#include "agents/ppo_parameters.h"

namespace agora::agents::kind_expgen {

// Exploration that generalises where rewards do not (Zisselman et al., 2023): PPO members on all
// levels that know nothing of each other, and an explorer that learns to see what is new to its
// episode. Its authors' is recurrent; here it sees the trace of the episode. Published on Procgen,
// easy, 200 levels: maze 8.2, heist 7.4, bigfish 6.1, with ten members and 100 million
// steps more for the explorer; here all of them share the steps.
Algorithm entry_expgen() {
  return of_ppo("expgen", "PPO policies with an explorer that acts where they disagree",
                both(ppo_parameters(), both({members_parameter()}, explorer_parameters())),
                [](const Told& told) {
                  EnsembleOptions how = ensemble_told(told);
                  how.members = told.whole<int64_t>("members");
                  how.deployed = Link::kAverage;
                  how.explorer = explorer_told(told);
                  return how;
                });
}

}  // namespace agora::agents::kind_expgen

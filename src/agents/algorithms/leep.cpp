#include "agents/ppo_parameters.h"

namespace agora::agents::kind_leep {

// Linked ensembles for the epistemic POMDP (thesis, alg. algobox): members on bootstrap samples of
// the levels, each drawn to the normalised maximum of all, which is what is deployed.
Algorithm entry_leep() {
  return of_ppo(
      "leep", "linked ensembles for the epistemic POMDP: PPO on bootstrapped levels, tied together",
      leep_parameters(), leep_told);
}

}  // namespace agora::agents::kind_leep

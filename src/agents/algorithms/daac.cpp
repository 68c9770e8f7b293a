#include "agents/ppo_parameters.h"

namespace agora::agents::kind_daac {

// Decoupled advantages (Raileanu and Fergus, 2021): what a value has to remember of a level is no
// part of the policy. Published on Procgen, easy, 25 million steps, with an adversary beside it
// that is not here (IDAAC): maze 5.6, heist 3.5, bigfish 18.5, dodgeball 3.2; in the last two its
// value learned in every 32nd iteration only, here it does in each.
Algorithm entry_daac() {
  return of_ppo("daac", "PPO with a value network of its own and a policy that learns advantages",
                separate_parameters(), separate_told);
}

}  // namespace agora::agents::kind_daac

#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_daac {

// Decoupled advantages (Raileanu and Fergus, 2021): what a value has to remember of a level is no
// part of the policy. Published on Procgen, easy, 25 million steps, with an adversary beside it
// that is not here (IDAAC): maze 5.6, heist 3.5, bigfish 18.5, dodgeball 3.2; in the last two its
// value learned in every 32nd iteration only, here it does in each.
Algorithm entry_daac() {
  return {.name = "daac",
          .summary = "PPO with a value network of its own and a policy that learns advantages",
          .parameters = separate_parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("daac", separate_parameters(), options.arguments);
            return std::make_unique<PpoEnsemble>(options, separate_told(told));
          }};
}

}  // namespace agora::agents::kind_daac

#include "agents/ppo_ensemble.h"
#include "agents/ppo_parameters.h"

namespace agora::agents::kind_plr {
namespace {

std::vector<Parameter> parameters() { return both(ppo_parameters(), replay_parameters()); }

}  // namespace

// Prioritised level replay (Jiang, Grefenstette and Rocktaeschel, 2021). Published on Procgen,
// easy, 25 million steps: maze 5.5, heist 2.9, bigfish 10.9, dodgeball 1.8.
Algorithm entry_plr() {
  return {.name = "plr",
          .summary = "PPO that mostly plays the levels whose values it has most wrong",
          .parameters = parameters(),
          .make = [](const AgentOptions& options) -> std::unique_ptr<AgentLearner> {
            const Told told("plr", parameters(), options.arguments);
            EnsembleOptions how = ensemble_told(told);
            how.replay = replay_told(told);
            return std::make_unique<PpoEnsemble>(options, how);
          }};
}

}  // namespace agora::agents::kind_plr

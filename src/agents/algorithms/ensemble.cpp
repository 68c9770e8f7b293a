#include "agents/ppo_parameters.h"

namespace agora::agents::kind_ensemble {

// Bayesian model averaging: the same members without a penalty, deployed as their mean.
Algorithm entry_ensemble() {
  return of_ppo("ensemble",
                "PPO policies on bootstrapped levels that know nothing of each other, averaged",
                both(ppo_parameters(), {members_parameter()}), [](const Told& told) {
                  EnsembleOptions how = ensemble_told(told);
                  how.members = told.whole<int64_t>("members");
                  how.deployed = Link::kAverage;
                  how.levels = EnsembleOptions::Levels::kBootstrap;
                  return how;
                });
}

}  // namespace agora::agents::kind_ensemble

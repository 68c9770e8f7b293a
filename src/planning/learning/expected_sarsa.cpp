#include "planning/learning/learner.h"
#include "planning/learning/learning_update.h"

namespace agora::planning::kind_expected_sarsa {

Learner entry_expected_sarsa() {
  return {.name = "expected-sarsa",
          .summary = "Q(s,a) towards the mean over the next action",
          .log_z = false,
          .target = [](const Experience& seen, const LearningRates& rates) {
            return expected_sarsa_target(seen.reward, rates.discount, seen.policy, seen.next);
          }};
}

}  // namespace agora::planning::kind_expected_sarsa

#include "planning/learning/learner.h"

namespace agora::planning::kind_sarsa {

Learner entry_sarsa() {
  return {.name = "sarsa",
          .summary = "Q(s,a) towards the next action taken",
          .log_z = false,
          .target = [](const Experience& seen, const LearningRates& rates) {
            return seen.reward + rates.discount * seen.next[seen.next_action];
          }};
}

}  // namespace agora::planning::kind_sarsa

#include <algorithm>

#include "planning/learning/learner.h"

namespace agora::planning::kind_q_learning {

Learner entry_q_learning() {
  return {.name = "q-learning",
          .summary = "Q(s,a) towards the best next action",
          .log_z = false,
          .target = [](const Experience& seen, const LearningRates& rates) {
            return seen.reward +
                   rates.discount * *std::max_element(seen.next.begin(), seen.next.end());
          }};
}

}  // namespace agora::planning::kind_q_learning

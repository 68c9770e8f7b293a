#include "planning/learning/learner.h"
#include "planning/learning/learning_update.h"

namespace agora::planning::kind_z_learning {

namespace {

std::vector<LearningParameter> parameters() {
  return both(learning_parameters(), {parameter("mu", &LearningOptions::mu, -kFinite, kFinite,
                                                "chemical potential (default: -log d - .1)")});
}

}  // namespace

Learner entry_z_learning() {
  return {.name = "z-learning",
          .summary = "Z(s,a) by the geometric update; policy in proportion to Z",
          .log_z = true,
          .target =
              [](const Experience& seen, const LearningRates& rates) {
                return z_target(rates.beta, rates.mu, seen.reward, seen.next);
              },
          .parameters = parameters()};
}

}  // namespace agora::planning::kind_z_learning

#include "agents/agreement.h"

#include <algorithm>
#include <cmath>

namespace agora::agents {

std::vector<OptionParameter<Exploration>> exploration_parameters() {
  return {parameter("agree", &Exploration::agree, 0, 1,
                    "share of the members that have to agree, or else the explorer acts"),
          parameter("explore-steps", &Exploration::steps, 1, 10'000,
                    "steps that the explorer then goes on for, on average")};
}

double agreement(std::span<const float> probabilities, int64_t members) {
  const int64_t actions = std::ssize(probabilities) / members;
  std::vector<int64_t> votes(static_cast<size_t>(actions));
  for (int64_t m = 0; m < members; ++m) {
    const auto own = probabilities.subspan(m * actions, actions);
    ++votes[std::max_element(own.begin(), own.end()) - own.begin()];
  }
  return static_cast<double>(*std::max_element(votes.begin(), votes.end())) /
         static_cast<double>(members);
}

int64_t exploring_steps(double mean, Rng& rng) {
  if (mean <= 1) return 1;
  return 1 + static_cast<int64_t>(std::log1p(-rng.uniform()) / std::log1p(-1 / mean));
}

}  // namespace agora::agents

#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/parameter.h"
#include "base/rng.h"

namespace agora::agents {

// When an explorer takes over from the members of an ensemble, and for how long.
struct Exploration {
  double agree = 0.75;
  double steps = 5;  // on average
};
std::vector<OptionParameter<Exploration>> exploration_parameters();

// The largest share of members whose likeliest action is the same, from probabilities
// (members, actions). Draws would hardly ever agree where several actions do the same thing.
double agreement(std::span<const float> probabilities, int64_t members);

// A geometric number of steps, 1 or more, with that mean.
int64_t exploring_steps(double mean, Rng& rng);

}  // namespace agora::agents

#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "agents/space.h"
#include "base/rng.h"

namespace agora::agents {

// How far a picture is moved; what comes into sight is 0.
struct Shift {
  int64_t down = 0, right = 0;
};

// At most that share of a side in each of its directions, all with the same chance.
Shift draw_shift(const ObservationSpace& space, double share, Rng& rng);

void shift_picture(const ObservationSpace& space, const Shift& by, std::span<const std::byte> from,
                   std::span<std::byte> to);

}  // namespace agora::agents

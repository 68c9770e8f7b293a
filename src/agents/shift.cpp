#include "agents/shift.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace agora::agents {

Shift draw_shift(const ObservationSpace& space, double share, Rng& rng) {
  const auto along = [&](int64_t side) {
    const int64_t most = std::lround(share * static_cast<double>(side));
    return static_cast<int64_t>(rng.below(static_cast<uint32_t>(2 * most + 1))) - most;
  };
  const int64_t down = along(space.shape[0]);
  return {down, along(space.shape[1])};
}

void shift_picture(const ObservationSpace& space, const Shift& by, std::span<const std::byte> from,
                   std::span<std::byte> to) {
  const int64_t height = space.shape[0], width = space.shape[1];
  const int64_t cell = space.bytes() / (height * width), line = width * cell;
  const int64_t left = std::max<int64_t>(0, by.right), kept = width - std::abs(by.right);
  std::fill(to.begin(), to.end(), std::byte{0});
  if (kept <= 0) return;
  for (int64_t y = std::max<int64_t>(0, by.down); y < std::min(height, height + by.down); ++y) {
    std::memcpy(&to[static_cast<size_t>(y * line + left * cell)],
                &from[static_cast<size_t>((y - by.down) * line + (left - by.right) * cell)],
                static_cast<size_t>(kept * cell));
  }
}

}  // namespace agora::agents

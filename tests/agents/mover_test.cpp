// The one thing that moves in pictures of what stays.
#include "agents/mover.h"

#include <gtest/gtest.h>

#include <cmath>

namespace agora::agents {
namespace {

const ObservationSpace kPixels{.type = ObservationSpace::Type::kByte, .shape = {64, 64, 3}};

// Stripes that stay, with squares of one colour on them.
struct Drawing {
  std::vector<std::byte> rgb = std::vector<std::byte>(64 * 64 * 3);

  Drawing() {
    for (size_t k = 0; k < rgb.size(); ++k) rgb[k] = static_cast<std::byte>(k * 7 % 61);
  }
  Drawing& square(int64_t x, int64_t y, int64_t side, uint8_t value) {
    for (int64_t v = y; v < y + side; ++v) {
      for (int64_t u = x; u < x + side; ++u) {
        for (int64_t c = 0; c < 3; ++c) rgb[(v * 64 + u) * 3 + c] = std::byte{value};
      }
    }
    return *this;
  }
};

// To and fro, 3 pixels at a time, between 6 and 48.
int64_t swing(int64_t step) { return 6 + 3 * (14 - std::abs(14 - step % 28)); }

TEST(Mover, IsFoundAndMeasured) {
  Mover mover(kPixels);
  for (int64_t step = 0; step < 60; ++step) {
    const int64_t x = swing(step), y = 20;
    mover.see(Drawing().square(x, y, 6, 255).rgb);
    EXPECT_EQ(mover.is_found(), step >= 2);
    EXPECT_FALSE(mover.world_changed());
    if (step < 2) continue;
    EXPECT_TRUE(mover.has_moved());
    const double near = step < 8 ? 3 : 0;
    EXPECT_NEAR(mover.at().x, static_cast<double>(x) + 3, near) << step;
    EXPECT_NEAR(mover.at().y, static_cast<double>(y) + 3, near) << step;
    if (step < 8) continue;
    EXPECT_TRUE(mover.is_measured());
    EXPECT_EQ(mover.size(), 6);
  }
  mover.see(Drawing().square(swing(59), 20, 6, 255).rgb);
  EXPECT_FALSE(mover.has_moved());
  EXPECT_FALSE(mover.gave_up());
}

// Another colour, as of one that has turned, is not another position.
TEST(Mover, DoesNotMoveWhenItTurns) {
  Mover mover(kPixels);
  for (int64_t step = 0; step < 12; ++step) {
    mover.see(Drawing().square(6 + 3 * step, 20, 6, 255).rgb);
  }
  mover.see(Drawing().square(39, 20, 6, 254).square(39, 20, 3, 90).rgb);
  EXPECT_FALSE(mover.has_moved());
  EXPECT_EQ(mover.at().x, 42);
}

TEST(Mover, KnowsWhenSomethingElseChanges) {
  Mover mover(kPixels);
  for (int64_t step = 0; step < 40; ++step) {
    Drawing drawing;
    if (step < 20) drawing.square(50, 50, 7, 200);         // far away
    if (step < 30) drawing.square(swing(30), 12, 7, 100);  // a door beside it
    mover.see(drawing.square(swing(step), 20, 6, 255).rgb);
    EXPECT_EQ(mover.world_changed(), step == 20 || step == 30) << step;
  }
  EXPECT_FALSE(mover.gave_up());
  EXPECT_EQ(mover.at().x, static_cast<double>(swing(39)) + 3);
}

TEST(Mover, GivesUpWhereMoreMoves) {
  Mover two(kPixels), digs(kPixels), still(kPixels);
  for (int64_t step = 0; step < 80; ++step) {
    two.see(Drawing().square(swing(step), 10, 6, 255).square(swing(step + 7), 50, 6, 200).rgb);
    still.see(Drawing().rgb);
    Drawing trail;
    for (int64_t k = 0; k <= step; ++k) trail.square(swing(k % 14), 4 + k / 14 * 6, 6, 0);
    digs.see(trail.square(swing(step % 14), 4 + step / 14 * 6, 6, 255).rgb);
  }
  EXPECT_TRUE(two.gave_up());
  EXPECT_TRUE(digs.gave_up());
  EXPECT_FALSE(still.gave_up());
  EXPECT_FALSE(still.is_found());
}

}  // namespace
}  // namespace agora::agents

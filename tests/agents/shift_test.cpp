#include "agents/shift.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

namespace agora::agents {
namespace {

std::vector<std::byte> bytes(const std::vector<int>& values) {
  std::vector<std::byte> all;
  for (const int each : values) all.push_back(static_cast<std::byte>(each));
  return all;
}

std::vector<std::byte> shifted(const ObservationSpace& space, const Shift& by,
                               const std::vector<std::byte>& from) {
  std::vector<std::byte> to(from.size(), std::byte{99});
  shift_picture(space, by, from, to);
  return to;
}

TEST(Shift, MovesAPictureAndShowsNothingWhereItWas) {
  const ObservationSpace space{ObservationSpace::Type::kByte, {2, 3, 2}};
  const auto picture = bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(shifted(space, {0, 0}, picture), picture);
  EXPECT_EQ(shifted(space, {1, 0}, picture), bytes({0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(shifted(space, {-1, 0}, picture), bytes({7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(shifted(space, {0, 1}, picture), bytes({0, 0, 1, 2, 3, 4, 0, 0, 7, 8, 9, 10}));
  EXPECT_EQ(shifted(space, {0, -1}, picture), bytes({3, 4, 5, 6, 0, 0, 9, 10, 11, 12, 0, 0}));
  EXPECT_EQ(shifted(space, {-1, -2}, picture), bytes({11, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  for (const Shift out : {Shift{2, 0}, Shift{0, 3}, Shift{-2, 5}}) {
    EXPECT_EQ(shifted(space, out, picture), bytes(std::vector<int>(12, 0)));
  }
}

TEST(Shift, MovesRealNumbersWhole) {
  const ObservationSpace space{ObservationSpace::Type::kReal, {1, 2, 1}};
  const std::vector<float> picture{0.5F, -3};
  const auto* begin = reinterpret_cast<const std::byte*>(picture.data());
  const auto moved = shifted(space, {0, 1}, {begin, begin + 8});
  std::vector<float> found(2);
  std::memcpy(found.data(), moved.data(), 8);
  EXPECT_EQ(found, (std::vector<float>{0, 0.5F}));
}

// A quarter of eight rows is two, of four columns one: fifteen shifts. Each is drawn 2,000 of
// 30,000 times, with a deviation of 43; one in 10^6 is beyond 4.9 of them.
TEST(Shift, IsAnyWithinReachWithTheSameChance) {
  const ObservationSpace space{ObservationSpace::Type::kByte, {8, 4, 1}};
  std::map<std::pair<int64_t, int64_t>, int> drawn;
  Rng rng(5);
  for (int k = 0; k < 30'000; ++k) {
    const Shift by = draw_shift(space, 0.25, rng);
    ++drawn[{by.down, by.right}];
  }
  EXPECT_EQ(drawn.size(), 15U);
  EXPECT_EQ(drawn.begin()->first, (std::pair<int64_t, int64_t>{-2, -1}));
  EXPECT_EQ(drawn.rbegin()->first, (std::pair<int64_t, int64_t>{2, 1}));
  for (const auto& [by, times] : drawn) EXPECT_NEAR(times, 2000, 5 * 43);
}

}  // namespace
}  // namespace agora::agents

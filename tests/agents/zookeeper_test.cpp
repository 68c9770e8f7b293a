#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "agents/players.h"

namespace agora::agents {
namespace {

constexpr int kSide = 32, kPeek = 4;

using Map = std::vector<std::byte>;

Map map_of(int64_t level) {
  const auto environment = level_of("zookeeper", level);
  return seen_by(environment->observations(), *environment, 0);
}

// Who knows what the drawing means: paper that no way leads to from the edge is inside the closed
// ring.
int parse(const Map& map) {
  const auto ink = [&](int at) { return static_cast<int>(map[static_cast<size_t>(at)]) > 128; };
  std::array<bool, kSide * kSide> reached{};
  std::vector<int> next;
  const auto reach = [&](int row, int column) {
    if (row < 0 || column < 0 || row >= kSide || column >= kSide) return;
    const int at = row * kSide + column;
    if (ink(at) || reached[static_cast<size_t>(at)]) return;
    reached[static_cast<size_t>(at)] = true;
    next.push_back(at);
  };
  for (int k = 0; k < kSide; ++k) {
    reach(0, k);
    reach(kSide - 1, k);
    reach(k, 0);
    reach(k, kSide - 1);
  }
  while (!next.empty()) {
    const int row = next.back() / kSide, column = next.back() % kSide;
    next.pop_back();
    reach(row - 1, column);
    reach(row + 1, column);
    reach(row, column - 1);
    reach(row, column + 1);
  }
  std::array<int, 4> inside{};
  for (int at = 0; at < kSide * kSide; ++at) {
    if (ink(at) || reached[static_cast<size_t>(at)]) continue;
    ++inside[static_cast<size_t>(at / kSide / 16 * 2 + at % kSide / 16)];
  }
  int found = -1;
  for (int k = 0; k < 4; ++k) {
    if (inside[static_cast<size_t>(k)] == 0) continue;
    EXPECT_EQ(found, -1) << "two closed rings";
    found = k;
  }
  return found;
}

TEST(Zookeeper, HasAMapThatCanBeRead) {
  std::vector<double> places(4);
  for (int64_t level = 0; level < 3000; ++level) {
    const auto environment = level_of("zookeeper", level);
    const int otters = parse(seen_by(environment->observations(), *environment, 0));
    ASSERT_GE(otters, 0) << level;
    for (int action = 0; action < 4; ++action) {
      environment->step(std::vector<int32_t>{action});
      ASSERT_EQ(environment->rewards()[0], action == otters ? 1 : 0) << level;
      ASSERT_EQ(environment->ends()[0], End::kTerminated);
    }
    ++places[static_cast<size_t>(otters)];
  }
  // Chi-square with 3 degrees of freedom exceeds 26 once in 100,000 times.
  EXPECT_LT(chi_square(places, std::vector(4, 750.0)), 26);
}

// A share of 20,000 is within five standard deviations, sqrt(.95 * .05 / 20,000), of its
// probability.
TEST(Zookeeper, PeekingFindsThemInEveryZoo) {
  for (const int64_t first : {0, 1'000'000}) {
    const auto environment = make_environment(
        "zookeeper", {.levels = Levels::range(first, 100), .count = 200, .seed = 3});
    double found = 0;
    for (int step = 0; step < 100; ++step) {
      environment->step(std::vector<int32_t>(200, kPeek));
      for (const float reward : environment->rewards()) found += static_cast<double>(reward);
    }
    EXPECT_NEAR(found / 20'000, .95, .0077);
  }
}

// The most similar map that was seen, whichever that is: perfect where it was, and worse than
// peeking in a new zoo.
TEST(Zookeeper, MapsCannotBeMemorised) {
  constexpr int kSeen = 200, kNew = 300;
  std::vector<Map> maps;
  for (int64_t level = 0; level < kSeen; ++level) maps.push_back(map_of(level));
  const auto remembered = [&](const Map& map) {
    int64_t best = INT64_MAX;
    int answer = -1;
    for (const Map& known : maps) {
      int64_t distance = 0;
      for (size_t k = 0; k < map.size(); ++k) {
        const int off = static_cast<int>(map[k]) - static_cast<int>(known[k]);
        distance += off * off;
      }
      if (distance < best) {
        best = distance;
        answer = parse(known);
      }
    }
    return answer;
  };
  for (int64_t level = 0; level < kSeen; level += 10) {
    EXPECT_EQ(remembered(maps[static_cast<size_t>(level)]),
              parse(maps[static_cast<size_t>(level)]));
  }
  int right = 0;
  for (int64_t level = 5000; level < 5000 + kNew; ++level) {
    const Map map = map_of(level);
    right += remembered(map) == parse(map);
  }
  RecordProperty("right", right);
  EXPECT_LT(right, .6 * kNew);
}

}  // namespace
}  // namespace agora::agents

// What an episode has shown: a search through places that nobody knows, guided by a policy.
#include "agents/episode_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "agents/evaluation/evaluate.h"
#include "agents/remembering.h"
#include "base/rng.h"
#include "nn/categorical.h"
#include "support/scratch.h"

namespace agora::agents {
namespace {

constexpr int64_t kActions = 6;  // four moves and two that do nothing

// A tree of cells: cell k > 0 hangs on a cell before it, `side` of which it takes.
struct Tree {
  std::vector<std::array<int, 4>> next;  // (cells): where the moves lead

  Tree(int cells, uint64_t seed) : next(1, {-1, -1, -1, -1}) {
    Rng rng(seed, 0, 0);
    while (static_cast<int>(next.size()) < cells) {
      const auto at = static_cast<int>(rng.below(static_cast<uint32_t>(next.size())));
      const auto side = static_cast<int>(rng.below(4));
      if (next[at][side] >= 0) continue;
      next[at][side] = static_cast<int>(next.size());
      next.push_back({-1, -1, -1, -1});
      next.back()[(side + 2) % 4] = at;
    }
  }
  int after(int cell, int action) const {
    return action < 4 && next[cell][action] >= 0 ? next[cell][action] : cell;
  }
};

const ObservationSpace kNumbers{.type = ObservationSpace::Type::kByte, .shape = {2}};

std::vector<std::byte> seen(int cell) {
  return {static_cast<std::byte>(cell % 256), static_cast<std::byte>(cell / 256)};
}

// Steps until all cells were seen, at most `limit`; a policy that knows nothing.
int steps_to_see_all(const Tree& tree, bool remembers, uint64_t seed, int limit) {
  EpisodeMemory memory(kNumbers, kActions, {});
  std::vector<bool> known(tree.next.size());
  size_t left = known.size();
  int cell = 0;
  for (int step = 0; step < limit; ++step) {
    if (!known[cell]) {
      known[cell] = true;
      if (--left == 0) return step;
    }
    std::vector<float> logits(kActions, 0.0F);
    if (remembers) memory.see(seen(cell), logits);
    Rng rng(seed, 1, static_cast<uint32_t>(step));
    const int action = nn::sample_categorical(logits, rng);
    memory.did(action);
    cell = tree.after(cell, action);
  }
  return limit;
}

TEST(EpisodeMemory, SeesAllOfAMazeInStepsThatGrowWithItsSize) {
  constexpr int kCells = 100;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Tree tree(kCells, seed);
    // All that can be tried is tried at most once before what is behind it is worth less: six
    // actions in each cell, and the ways back.
    EXPECT_LT(steps_to_see_all(tree, true, seed, 10'000), 12 * kCells) << seed;
  }
}

TEST(EpisodeMemory, IsFasterThanChance) {
  int with = 0, without = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Tree tree(60, seed);
    with += steps_to_see_all(tree, true, seed, 20'000);
    without += steps_to_see_all(tree, false, seed, 20'000);
  }
  EXPECT_LT(4 * with, without);
}

TEST(EpisodeMemory, LeavesANewPlaceToThePolicy) {
  EpisodeMemory memory(kNumbers, 3, {});
  const std::vector<float> own{0.3F, -2.0F, 1.0F};
  for (int cell = 0; cell < 20; ++cell) {
    std::vector<float> logits = own;
    memory.see(seen(cell), logits);
    EXPECT_EQ(logits, own);
    memory.did(cell % 3);
  }
  EXPECT_EQ(memory.places(), 20);
}

// What was tried and did nothing is avoided, more so than what is unlikely.
TEST(EpisodeMemory, DoesNotTryWhatDidNothingAgain) {
  EpisodeMemory memory(kNumbers, 3, {});
  std::vector<float> logits{3.0F, 0.0F, 0.0F};
  memory.see(seen(7), logits);
  memory.did(0);
  logits = {3.0F, 0.0F, 0.0F};
  memory.see(seen(7), logits);
  EXPECT_GT(logits[1], logits[0] + 1);
  EXPECT_GT(logits[2], logits[0] + 1);
  memory.clear();
  logits = {3.0F, 0.0F, 0.0F};
  memory.see(seen(7), logits);
  EXPECT_EQ(logits, (std::vector<float>{3.0F, 0.0F, 0.0F}));
}

// Action 1 stays wherever it is tried, action 2 does not: where neither was tried, 2 is better.
TEST(EpisodeMemory, DoubtsWhatDidNothingElsewhere) {
  EpisodeMemory memory(kNumbers, 3, {});
  const std::vector<std::pair<int, int>> walk{{0, 1}, {0, 0}, {1, 1}, {1, 0},
                                              {2, 1}, {2, 0}, {3, 0}, {4, 2}};
  std::vector<float> logits(3);
  for (const auto& [cell, action] : walk) {
    logits.assign(3, 0.0F);
    memory.see(seen(cell), logits);
    memory.did(action);
  }
  logits.assign(3, 0.0F);
  memory.see(seen(3), logits);
  EXPECT_GT(logits[2], logits[1] + 1);
}

// 0 -> 1 -> 2 by action 0, and back by action 1. In 2 all is tried; what the policy thinks more of
// is in 0, two steps away, though in 1 something is left too.
TEST(EpisodeMemory, GoesBackToWhatIsWorthMore) {
  const std::map<int, std::vector<float>> thinks{
      {0, {0.0F, -20.0F, -0.1F}}, {1, {0.0F, -20.0F, -8.0F}}, {2, {0.0F, 0.0F, 0.0F}}};
  EpisodeMemory memory(kNumbers, 3, {});
  const std::vector<std::pair<int, int>> walk{{0, 0}, {1, 0}, {2, 0}, {2, 2},
                                              {2, 1}, {1, 0}, {2, 0}, {2, 2}};
  for (const auto& [cell, action] : walk) {
    std::vector<float> logits = thinks.at(cell);
    memory.see(seen(cell), logits);
    memory.did(action);
  }
  std::vector<float> logits = thinks.at(2);
  memory.see(seen(2), logits);
  EXPECT_EQ(nn::most_likely(logits), 1);
  memory.did(1);
  logits = thinks.at(1);
  memory.see(seen(1), logits);
  EXPECT_EQ(nn::most_likely(logits), 2) << "from 1 nobody has gone back to 0 yet";
}

// A picture with a texture that stays, and a white square with its corner at x and y.
const ObservationSpace kPixels{.type = ObservationSpace::Type::kByte, .shape = {64, 64, 3}};

void fill(std::vector<std::byte>& rgb, int64_t x, int64_t y, int64_t side, uint8_t value) {
  for (int64_t v = y; v < y + side; ++v) {
    for (int64_t u = x; u < x + side; ++u) {
      for (int64_t c = 0; c < 3; ++c) rgb[(v * 64 + u) * 3 + c] = std::byte{value};
    }
  }
}

std::vector<std::byte> picture(int64_t x, int64_t y) {
  std::vector<std::byte> rgb(64 * 64 * 3);
  for (size_t k = 0; k < rgb.size(); ++k) rgb[k] = static_cast<std::byte>(k * k % 53);
  fill(rgb, x, y, 6, 255);
  return rgb;
}

TEST(EpisodeMemory, TakesPicturesOfNearlyTheSameForOnePlace) {
  for (const bool is_exact : {false, true}) {
    EpisodeMemory memory(kPixels, 2, {.radius = is_exact ? 0.0 : 0.5});
    std::vector<float> logits(2);
    for (const int64_t x : {10, 15, 20, 25, 30, 35}) memory.see(picture(x, 20), logits);
    EXPECT_EQ(memory.places(), 6);
    memory.see(picture(34, 20), logits);
    EXPECT_EQ(memory.places(), is_exact ? 7 : 6);
    memory.see(picture(39, 20), logits);
    EXPECT_EQ(memory.places(), is_exact ? 8 : 7);
    memory.see(picture(39, 30), logits);
    EXPECT_EQ(memory.places(), is_exact ? 9 : 8);
  }
}

// Noise, and a picture that scrolls: the policy is left as it is, to the bit.
TEST(EpisodeMemory, LeavesPicturesThatDoNotStayToThePolicy) {
  const std::vector<float> own{0.3F, -2.0F, 1.0F};
  for (const bool scrolls : {false, true}) {
    EpisodeMemory memory(kPixels, 3, {});
    for (uint32_t step = 0; step < 100; ++step) {
      std::vector<std::byte> rgb = picture(20, 20);
      Rng rng(5, 0, step);
      if (scrolls) {
        std::rotate(rgb.begin(), rgb.begin() + step * 3, rgb.end());
      } else {
        for (std::byte& each : rgb) each = static_cast<std::byte>(rng.below(256));
      }
      std::vector<float> logits = own;
      memory.see(rgb, logits);
      ASSERT_EQ(logits, own) << step;
      memory.did(static_cast<int32_t>(step % 3));
    }
    EXPECT_EQ(memory.places(), 0);
  }
}

// A corridor of cells, the last one behind a door that opens when a key, elsewhere, has gone. The
// policy would go the other way.
TEST(EpisodeMemory, TriesWallsAgainWhenTheWorldHasChanged) {
  EpisodeMemory memory(kPixels, 3, {});
  int64_t cell = 3;
  const auto play = [&](bool has_key, uint32_t from, uint32_t steps) {
    for (uint32_t step = from; step < from + steps; ++step) {
      std::vector<std::byte> rgb = picture(2 + 6 * cell, 50);
      if (!has_key) fill(rgb, 40, 5, 5, 200);
      std::vector<float> logits{-6.0F, 0.0F, -6.0F};
      memory.see(rgb, logits);
      Rng rng(3, 2, step);
      const int32_t action = nn::sample_categorical(logits, rng);
      memory.did(action);
      if (action == 0 && cell < (has_key ? 9 : 8)) ++cell;
      if (action == 1 && cell > 0) --cell;
      if (cell == 9) return step - from;
    }
    return steps;
  };
  EXPECT_EQ(play(false, 0, 100), 100);
  EXPECT_EQ(memory.places(), 9);
  EXPECT_LT(play(true, 100, 100), 40);
}

// Four moves by half a cell through corridors that are as wide as what moves, and two actions that
// do nothing: steps to the end of the last of several dead ends.
int steps_through_dead_ends(bool remembers, uint64_t seed, int limit) {
  const std::vector<std::string> map{"..........", ".#.#.#.#.#", ".#.#.#.#.#", ".#.#.#.#.#",
                                     ".#.#.#.#.#", ".#.#.#.#.#", ".#.#.#.#.#", "##########"};
  const auto is_free = [&](int64_t x, int64_t y) {
    for (const int64_t v : {y, y + 5}) {
      for (const int64_t u : {x, x + 5}) {
        if (u < 0 || v < 0 || u >= 60 || v >= 48 || map[v / 6][u / 6] != '.') return false;
      }
    }
    return true;
  };
  EpisodeMemory memory(kPixels, kActions, {});
  int64_t x = 0, y = 36;
  for (int step = 0; step < limit; ++step) {
    if (x == 48 && y == 36) return step;
    std::vector<float> logits(kActions, 0.0F);
    if (remembers) memory.see(picture(x, y), logits);
    Rng rng(seed, 1, static_cast<uint32_t>(step));
    const int32_t action = nn::sample_categorical(logits, rng);
    memory.did(action);
    const std::array<int64_t, kActions> across{-3, 3, 0, 0, 0, 0}, down{0, 0, -3, 3, 0, 0};
    if (!is_free(x + across[action], y + down[action])) continue;
    x += across[action];
    y += down[action];
  }
  return limit;
}

TEST(EpisodeMemory, IsFasterThanChanceWhereStepsAreParts) {
  int with = 0, without = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    with += steps_through_dead_ends(true, seed, 20'000);
    without += steps_through_dead_ends(false, seed, 20'000);
  }
  EXPECT_LT(4 * with, without);
}

// Actions 0 and 1 lead to the same cells wherever both are tried, 2 finds as much as 1: where 0 was
// tried, 2 is better than 1.
TEST(EpisodeMemory, LearnsWhichActionsAreAlike) {
  EpisodeMemory memory(kNumbers, 4, {});
  const std::vector<std::pair<int, int>> walk{{0, 0}, {1, 3}, {0, 1}, {1, 1}, {2, 3}, {1, 0},
                                              {2, 2}, {5, 2}, {5, 3}, {2, 0}, {6, 0}, {7, 3}};
  std::vector<float> logits(4);
  for (const auto& [cell, action] : walk) {
    logits.assign(4, 0.0F);
    memory.see(seen(cell), logits);
    memory.did(action);
  }
  logits.assign(4, 0.0F);
  memory.see(seen(6), logits);
  EXPECT_GT(logits[2], logits[1] + 1);
}

TEST(Remembering, EarnsMoreInMazesThanTheSamePolicyWithout) {
  const auto maze = make_environment("maze", {.levels = Levels::range(0, 1), .count = 1});
  const EvaluationOptions how{
      .environment = "maze", .levels = Levels::range(500, 100'000), .episodes = 256, .seed = 3};
  const auto chance = random_policy(maze->space());
  const auto searching = remembering(random_policy(maze->space()), how.environments, {});
  const Evaluation without = evaluate(*chance, how), with = evaluate(*searching, how);
  EXPECT_GT(with.low, without.high);
  // A second evaluation remembers nothing of the first.
  EXPECT_EQ(evaluate(*searching, how).returns, with.returns);
}

}  // namespace
}  // namespace agora::agents

// The rules of maze and heist, read off the planes and kept apart from the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "agents/players.h"

namespace agora::agents {
namespace {

// Where an action leads on the screen.
std::pair<int, int> move_of(int action) {  // (down, right)
  switch (action) {
    case 0:
    case 1:
    case 2:
      return {0, -1};
    case 3:
      return {1, 0};
    case 5:
      return {-1, 0};
    case 6:
    case 7:
    case 8:
      return {0, 1};
    default:
      return {0, 0};
  }
}

// The planes of one environment.
struct Seen {
  int side, planes;
  std::vector<std::byte> bytes;

  bool on(int row, int column, int plane) const {
    const std::byte value = bytes[static_cast<size_t>((row * side + column) * planes + plane)];
    EXPECT_TRUE(value == std::byte{0} || value == std::byte{255});
    return value == std::byte{255};
  }
  bool wall(int row, int column) const {
    return row < 0 || column < 0 || row >= side || column >= side || on(row, column, 0);
  }
  std::vector<std::pair<int, int>> all(int plane) const {
    std::vector<std::pair<int, int>> found;
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column) {
        if (on(row, column, plane)) found.emplace_back(row, column);
      }
    }
    return found;
  }
  int open_around(int row, int column) const {
    return !wall(row - 1, column) + !wall(row + 1, column) + !wall(row, column - 1) +
           !wall(row, column + 1);
  }
};

Seen look(const Environment& environment, int64_t i = 0) {
  const auto& shape = environment.space().observation.shape;
  return {static_cast<int>(shape[0]), static_cast<int>(shape[2]),
          seen_by(environment.observations(), environment, i)};
}

struct Box {
  int top = 99, bottom = -1, left = 99, right = -1;
  int cells = 0, edges = 0;
};

// The free cells, which are connected.
Box box_of(const Seen& seen) {
  Box box;
  std::set<std::pair<int, int>> reached;
  std::deque<std::pair<int, int>> next;
  for (int row = 0; row < seen.side; ++row) {
    for (int column = 0; column < seen.side; ++column) {
      if (seen.wall(row, column)) continue;
      box = {std::min(box.top, row),
             std::max(box.bottom, row),
             std::min(box.left, column),
             std::max(box.right, column),
             box.cells + 1,
             box.edges + !seen.wall(row, column + 1) + !seen.wall(row + 1, column)};
      if (next.empty() && reached.empty()) {
        next.emplace_back(row, column);
        reached.emplace(row, column);
      }
    }
  }
  while (!next.empty()) {
    const auto [row, column] = next.front();
    next.pop_front();
    for (const auto& cell : {std::pair(row - 1, column), std::pair(row + 1, column),
                             std::pair(row, column - 1), std::pair(row, column + 1)}) {
      if (!seen.wall(cell.first, cell.second) && reached.insert(cell).second) next.push_back(cell);
    }
  }
  EXPECT_EQ(static_cast<int>(reached.size()), box.cells);
  return box;
}

// Of 3,500 levels each of seven sides has 500: chi-square with 6 degrees of freedom exceeds 33 once
// in 100,000 times. The same for the four trees of a maze of side 3, with 3 degrees and 26.
TEST(Maze, IsAPerfectMazeOfEverySide) {
  constexpr int kLevels = 3500;
  std::vector<double> sides(7), missing_wall(4);
  double rank = 0;
  for (int64_t level = 0; level < kLevels; ++level) {
    const auto environment = level_of("maze", level);
    const Seen seen = look(*environment);
    ASSERT_EQ(seen.side, 15);
    const Box box = box_of(seen);
    const int side = box.right - box.left + 1;
    ASSERT_EQ(box.bottom - box.top + 1, side);
    ASSERT_TRUE(side % 2 == 1 && side >= 3);
    EXPECT_EQ(box.top, (15 - side) / 2);
    EXPECT_EQ(box.left, (15 - side) / 2);
    EXPECT_EQ(box.edges, box.cells - 1) << "a tree";
    const int rooms = (side + 1) / 2;
    EXPECT_EQ(box.cells, 2 * rooms * rooms - 1);
    ++sides[static_cast<size_t>((side - 3) / 2)];
    if (side == 3) {
      for (int k = 0; k < 4; ++k) {
        constexpr int kPlaces[4][2] = {{6, 7}, {7, 6}, {7, 8}, {8, 7}};
        if (seen.wall(kPlaces[k][0], kPlaces[k][1])) ++missing_wall[static_cast<size_t>(k)];
      }
    }
    ASSERT_EQ(seen.all(1), (std::vector{std::pair(box.bottom, box.left)}));
    const auto goals = seen.all(2);
    ASSERT_EQ(goals.size(), 1u);
    EXPECT_FALSE(seen.wall(goals[0].first, goals[0].second));
    EXPECT_NE(goals, seen.all(1));
    double before = 0;
    for (int row = 0; row < 15; ++row) {
      for (int column = 0; column < 15; ++column) {
        before += !seen.wall(row, column) && std::pair(row, column) < goals[0] &&
                  std::pair(row, column) != seen.all(1)[0];
      }
    }
    rank += (before + .5) / (box.cells - 1);
  }
  EXPECT_LT(chi_square(sides, std::vector(7, kLevels / 7.0)), 33);
  EXPECT_LT(chi_square(missing_wall, std::vector(4, sides[0] / 4)), 26);
  EXPECT_NEAR(rank / kLevels, .5, 5 * std::sqrt(1.0 / 12 / kLevels)) << "the goal is anywhere";
}

TEST(Maze, MovesCellByCellToTheGoal) {
  const auto environment = make_environment("maze", {.count = 20, .seed = 4});
  std::vector<Seen> known;
  for (int64_t i = 0; i < 20; ++i) known.push_back(look(*environment, i));
  std::vector<int> steps(20);
  int goals = 0, cut = 0;
  for (int64_t step = 0; step < 3000; ++step) {
    const auto actions = random_actions(*environment, 1, step);
    environment->step(actions);
    for (size_t i = 0; i < 20; ++i) {
      Seen& seen = known[i];
      const auto [row, column] = seen.all(1)[0];
      const auto [down, right] = move_of(actions[i]);
      std::pair cell{row, column};
      if (!seen.wall(row + down, column + right)) cell = {row + down, column + right};
      const auto plane = [](std::pair<int, int> at) {
        return static_cast<size_t>((at.first * 15 + at.second) * 3 + 1);
      };
      seen.bytes[plane({row, column})] = std::byte{0};
      seen.bytes[plane(cell)] = std::byte{255};
      const bool goal = seen.on(cell.first, cell.second, 2);
      const End end = goal ? End::kTerminated : ++steps[i] == 500 ? End::kCutOff : End::kNone;
      ASSERT_EQ(environment->rewards()[i], goal ? 10 : 0);
      ASSERT_EQ(environment->ends()[i], end);
      const auto now =
          end == End::kNone ? environment->observations() : environment->last_observations();
      ASSERT_EQ(seen_by(now, *environment, static_cast<int64_t>(i)), seen.bytes);
      if (end == End::kNone) continue;
      (goal ? goals : cut) += 1;
      seen = look(*environment, static_cast<int64_t>(i));
      steps[i] = 0;
    }
  }
  EXPECT_GT(goals, 50);
  EXPECT_GT(cut, 5);
}

TEST(Maze, IsCutOffAfter500Steps) {
  const auto environment = level_of("maze", 3);
  for (int step = 1; step <= 1000; ++step) {
    environment->step(std::vector<int32_t>{4});
    EXPECT_EQ(environment->ends()[0], step % 500 == 0 ? End::kCutOff : End::kNone) << step;
  }
}

// A pixel shows the cell that it lies in.
TEST(Maze, PixelsShowTheSame) {
  for (const char* name : {"maze", "heist"}) {
    const auto symbols = make_environment(name, {.count = 12, .seed = 2});
    const auto pixels = make_environment(std::string(name) + "/pixels", {.count = 12, .seed = 2});
    std::map<std::vector<std::byte>, std::vector<std::byte>> meaning;  // colours of a cell's middle
    std::set<std::vector<std::byte>> colours;
    for (int64_t step = 0; step < 200; ++step) {
      const auto actions = random_actions(*symbols, 5, step);
      symbols->step(actions);
      pixels->step(actions);
      for (int64_t i = 0; i < 12; ++i) {
        const Seen seen = look(*symbols, i);
        const auto picture = seen_by(pixels->observations(), *pixels, i);
        for (int row = 0; row + 1 < seen.side; ++row) {  // the last one of heist has keys on it
          for (int column = 0; column < seen.side; ++column) {
            const auto cell = seen.bytes.begin() + (row * seen.side + column) * seen.planes;
            const int shown = seen.planes == 3 ? 3 : 9;  // the others are not of this cell
            const int y = (2 * row + 1) * 64 / (2 * seen.side);
            const int x = (2 * column + 1) * 64 / (2 * seen.side);
            const auto pixel = picture.begin() + (y * 64 + x) * 3;
            const std::vector<std::byte> colour(pixel, pixel + 3);
            const std::vector<std::byte> what(cell, cell + shown);
            EXPECT_EQ(meaning.emplace(what, colour).first->second, colour);
            colours.insert(colour);
          }
        }
      }
    }
    EXPECT_GE(colours.size(), 4u) << name;
    EXPECT_EQ(std::equal(symbols->ends().begin(), symbols->ends().end(), pixels->ends().begin()),
              true);
  }
}

// The first episode of each of 8,000: five standard deviations of a share are .028 at most.
TEST(Maze, RandomActionsEarnTheLeast) {
  for (const char* name : {"maze", "heist"}) {
    constexpr size_t kCount = 8'000;
    const auto environment =
        make_environment(name, {.levels = Levels::all(), .count = kCount, .seed = 8});
    std::vector<bool> over(kCount);
    double earned = 0;
    std::vector<int32_t> actions(kCount);
    for (uint32_t step = 0; step < 1000; ++step) {
      Rng rng(1, 2, step);
      for (int32_t& action : actions) action = static_cast<int32_t>(rng.below(15));
      environment->step(actions);
      for (size_t i = 0; i < kCount; ++i) {
        if (over[i] || environment->ends()[i] == End::kNone) continue;
        over[i] = true;
        earned += static_cast<double>(environment->rewards()[i]) / kCount;
      }
    }
    EXPECT_TRUE(std::all_of(over.begin(), over.end(), [](bool ended) { return ended; }));
    EXPECT_NEAR(earned, environment->space().least, .28) << name;
    EXPECT_EQ(environment->space().most, 10);
  }
}

constexpr int kKeys = 3, kDoors = 6, kHeld = 9;

// What heist is like after an action, by its rules; true at the exit.
bool act(Seen& seen, int action) {
  const auto [row, column] = seen.all(1)[0];
  const auto [down, right] = move_of(action);
  const std::pair cell{row + down, column + right};
  if (seen.wall(cell.first, cell.second)) return false;
  const auto at = [&](std::pair<int, int> place, int plane) -> std::byte& {
    return seen.bytes[static_cast<size_t>((place.first * 9 + place.second) * 12 + plane)];
  };
  for (int k = 0; k < 3; ++k) {
    if (at(cell, kDoors + k) != std::byte{0} && at(cell, kHeld + k) == std::byte{0}) return false;
  }
  at({row, column}, 1) = std::byte{0};
  at(cell, 1) = std::byte{255};
  for (int k = 0; k < 3; ++k) {
    at(cell, kDoors + k) = std::byte{0};
    if (at(cell, kKeys + k) == std::byte{0}) continue;
    at(cell, kKeys + k) = std::byte{0};
    for (int r = 0; r < 9; ++r) {
      for (int c = 0; c < 9; ++c) at({r, c}, kHeld + k) = std::byte{255};
    }
  }
  return seen.on(cell.first, cell.second, 2);
}

// The shortest way to the exit, by breadth-first search over all that can be seen.
std::optional<std::vector<int>> solve(const Seen& start) {
  std::map<std::vector<std::byte>, std::pair<std::vector<std::byte>, int>> came_from;
  std::deque<Seen> next{start};
  came_from[start.bytes] = {{}, -1};
  while (!next.empty()) {
    const Seen now = next.front();
    next.pop_front();
    for (const int action : {1, 3, 5, 7}) {
      Seen then = now;
      const bool exit = act(then, action);
      if (!came_from.emplace(then.bytes, std::pair(now.bytes, action)).second) continue;
      if (!exit) {
        next.push_back(then);
        continue;
      }
      std::vector<int> way;
      for (auto at = then.bytes; came_from[at].second >= 0; at = came_from[at].first) {
        way.insert(way.begin(), came_from[at].second);
      }
      return way;
    }
  }
  return std::nullopt;
}

TEST(Heist, CanBeSolvedAndNeedsItsKeys) {
  std::map<std::pair<int, int>, int> doors_by_side;
  for (int64_t level = 0; level < 400; ++level) {
    const auto environment = level_of("heist", level);
    const Seen seen = look(*environment);
    ASSERT_EQ(seen.side, 9);
    const Box box = box_of(seen);
    const int side = box.right - box.left + 1;
    EXPECT_TRUE(side == 5 || side == 7 || side == 9);
    EXPECT_EQ(box.edges, box.cells - 1);
    EXPECT_TRUE(box.left >= 0 && box.right < 9);
    int doors = 0, keys = 0, forks = 0;
    const auto [row, column] = seen.all(1)[0];
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(seen.all(kDoors + k).size(), seen.all(kKeys + k).size());
      EXPECT_TRUE(seen.all(kHeld + k).empty());
      keys += static_cast<int>(seen.all(kKeys + k).size());
      for (const auto& [r, c] : seen.all(kDoors + k)) {
        ++doors;
        EXPECT_GT(seen.open_around(r, c), 2);
        EXPECT_GT(std::abs(r - row) + std::abs(c - column), 1) << "the agent is beside a door";
      }
    }
    for (int r = 0; r < 9; ++r) {
      for (int c = 0; c < 9; ++c) forks += !seen.wall(r, c) && seen.open_around(r, c) > 2;
    }
    const int difficulty = (side - 5) / 2;
    EXPECT_EQ(keys, doors);
    EXPECT_LE(doors, std::min(3, difficulty + 1));
    EXPECT_GE(doors, std::min(difficulty, forks));
    ++doors_by_side[{side, doors}];
    ASSERT_EQ(seen.all(2).size(), 1u);

    const auto way = solve(seen);
    ASSERT_TRUE(way) << level;
    for (int missing = 0; missing < doors; ++missing) {  // without any one key there is no way
      Seen poorer = seen;
      const auto [r, c] = seen.all(kKeys + missing)[0];
      poorer.bytes[static_cast<size_t>((r * 9 + c) * 12 + kKeys + missing)] = std::byte{0};
      EXPECT_FALSE(solve(poorer)) << level;
    }
    for (size_t k = 0; k < way->size(); ++k) {
      environment->step(std::vector<int32_t>{(*way)[k]});
      const bool last = k + 1 == way->size();
      ASSERT_EQ(environment->rewards()[0], last ? 10 : 0);
      ASSERT_EQ(environment->ends()[0], last ? End::kTerminated : End::kNone);
    }
  }
  EXPECT_GE(doors_by_side.size(), 6u);  // of both numbers for each side
}

TEST(Heist, FollowsItsRules) {
  const auto environment = make_environment("heist", {.count = 20, .seed = 4});
  std::vector<Seen> known;
  for (int64_t i = 0; i < 20; ++i) known.push_back(look(*environment, i));
  std::vector<int> steps(20);
  int exits = 0, cut = 0;
  for (int64_t step = 0; step < 2500; ++step) {
    const auto actions = random_actions(*environment, 1, step);
    environment->step(actions);
    for (size_t i = 0; i < 20; ++i) {
      const bool exit = act(known[i], actions[i]);
      const End end = exit ? End::kTerminated : ++steps[i] == 1000 ? End::kCutOff : End::kNone;
      ASSERT_EQ(environment->rewards()[i], exit ? 10 : 0);
      ASSERT_EQ(environment->ends()[i], end);
      const auto now =
          end == End::kNone ? environment->observations() : environment->last_observations();
      ASSERT_EQ(seen_by(now, *environment, static_cast<int64_t>(i)), known[i].bytes);
      if (end == End::kNone) continue;
      (exit ? exits : cut) += 1;
      known[i] = look(*environment, static_cast<int64_t>(i));
      steps[i] = 0;
    }
  }
  EXPECT_GT(exits, 20);
  EXPECT_GT(cut, 5);
}

}  // namespace
}  // namespace agora::agents

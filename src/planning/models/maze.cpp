#include <numeric>

#include "base/error.h"
#include "base/rng.h"
#include "planning/builtin.h"
#include "planning/grid_model.h"

namespace agora::planning {
namespace {

constexpr uint32_t kStream = 0x6d617a65;  // of the random numbers

int32_t root(std::vector<int32_t>& parent, int32_t i) {
  const auto above = [&](int32_t j) -> int32_t& { return parent[static_cast<size_t>(j)]; };
  while (above(i) != i) i = above(i) = above(above(i));
  return i;
}

// Kruskal: rooms on even cells; walls in random order fall where they part two regions, and
// otherwise with probability `loops`.
std::string carve(int32_t rows, int32_t cols, uint64_t seed, double loops) {
  std::string cells(static_cast<size_t>(rows) * static_cast<size_t>(cols), '#');
  struct Wall {
    int32_t cell, one, other;
  };
  std::vector<Wall> walls;
  for (int32_t row = 0; row < rows; row += 2) {
    for (int32_t col = 0; col < cols; col += 2) {
      const int32_t cell = row * cols + col;
      cells[static_cast<size_t>(cell)] = '.';
      if (col + 2 < cols) walls.push_back({cell + 1, cell, cell + 2});
      if (row + 2 < rows) walls.push_back({cell + cols, cell, cell + 2 * cols});
    }
  }
  Rng rng(seed, kStream);
  rng.shuffle(walls);
  std::vector<int32_t> parent(cells.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const Wall& wall : walls) {
    const int32_t one = root(parent, wall.one), other = root(parent, wall.other);
    const double luck = rng.uniform();
    if (one == other && luck >= loops) continue;
    parent[static_cast<size_t>(one)] = other;
    cells[static_cast<size_t>(wall.cell)] = '.';
  }
  cells.front() = 'S';
  cells.back() = 'G';
  return cells;
}

}  // namespace

BuiltIn entry_maze() {
  return {
      .name = "maze",
      .summary = "a random maze from the upper left to the lower right corner",
      .parameters = {{"rows", 21, 3, 30001, true, "odd"},
                     {"cols", 21, 3, 30001, true, "odd"},
                     {"seed", 1, 0, 0x1p53, true, "of the walls"},
                     {"loops", 0, 0, 1, false, "share of the other walls that fall too"},
                     {"slip", 0, 0, 1, false, "probability of a perpendicular move"},
                     {"step", -1, -1e6, 1e6, false, "reward of a step"},
                     {"goal", 0, -1e6, 1e6, false, "terminal reward of the goal"}},
      .make = [](const Arguments& given) {
        const int32_t rows = given.whole("rows"), cols = given.whole("cols");
        if (rows % 2 == 0 || cols % 2 == 0) {
          throw user_error("maze: rows and cols are {} and {}, expected odd numbers", rows, cols);
        }
        return grid_model(
            rows, cols,
            carve(rows, cols, static_cast<uint64_t>(given.number("seed")), given.number("loops")),
            {.step_reward = given.number("step"),
             .goal_reward = given.number("goal"),
             .slip = given.number("slip")});
      }};
}

}  // namespace agora::planning

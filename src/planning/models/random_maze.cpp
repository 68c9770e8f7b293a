#include "planning/models/random_maze.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "base/signals.h"

namespace agora::planning {
namespace {

constexpr uint32_t kStream = 0x6d617a65;  // of the random numbers

struct Wall {
  uint64_t weight;
  int32_t cell;        // where it stands
  int32_t one, other;  // rooms, in numbers of whoever looks at it
};

class Maze {
 public:
  Maze(int32_t rows, int32_t cols, uint64_t seed, double loops)
      : height(rows / 2 + 1), width(cols / 2 + 1), cols_(cols), seed_(seed), loops_(loops) {}

  const int32_t height, width;  // in rooms

  Wall wall(int32_t cell, int32_t one, int32_t other) const {
    return {Rng(seed_, kStream, 0, static_cast<uint32_t>(cell)).bits64(), cell, one, other};
  }
  // Whether a wall that need not fall does.
  bool lucky(int32_t cell) const {
    return Rng(seed_, kStream, 1, static_cast<uint32_t>(cell)).uniform() < loops_;
  }
  // The walls between the rooms of a row, which are called first, first + 1, ...
  void add_within(int32_t row, int32_t first, std::vector<Wall>& walls) const {
    for (int32_t k = 0; k + 1 < width; ++k) {
      walls.push_back(wall(2 * row * cols_ + 2 * k + 1, first + k, first + k + 1));
    }
  }
  // The walls between a row and the next.
  void add_below(int32_t row, int32_t first, int32_t first_below, std::vector<Wall>& walls) const {
    for (int32_t k = 0; k < width; ++k) {
      walls.push_back(wall((2 * row + 1) * cols_ + 2 * k, first + k, first_below + k));
    }
  }

 private:
  int32_t cols_;
  uint64_t seed_;
  double loops_;
};

// Calls visit(wall, one, other) from the lightest wall on: its rooms' regions, which become one if
// they are two; `one` then stands for both.
template <typename Visit>
void join_regions(int32_t rooms, std::vector<Wall>& walls, Visit&& visit) {
  std::sort(walls.begin(), walls.end(), [](const Wall& a, const Wall& b) {
    return std::tie(a.weight, a.cell) < std::tie(b.weight, b.cell);
  });
  std::vector<int32_t> parent(static_cast<size_t>(rooms));
  std::iota(parent.begin(), parent.end(), 0);
  const auto above = [&](int32_t i) -> int32_t& { return parent[static_cast<size_t>(i)]; };
  const auto region = [&](int32_t i) {
    while (above(i) != i) i = above(i) = above(above(i));
    return i;
  };
  for (const Wall& wall : walls) {
    const int32_t one = region(wall.one), other = region(wall.other);
    visit(wall, one, other);
    above(other) = one;
  }
}

// What rows that are not kept mean for the last of them.
struct Border {
  std::vector<Wall> open = {};  // fall unless lighter ones elsewhere lead around them; rooms of the
                                // last row, counted from 0, stand for the regions they part
  int64_t fallen = 0;           // of the other walls
};

// The rows from `first` to `last`, upwards or downwards, less the walls within `last`.
Border look_at(const Maze& maze, int32_t first, int32_t last) {
  Border border;
  const int32_t step = first <= last ? 1 : -1, width = maze.width;
  std::vector<Wall> walls;
  std::vector<int32_t> stands_for(static_cast<size_t>(2 * width));  // by region: in the new row
  for (int32_t row = first; row != last; row += step) {
    throw_if_stopped();
    walls.clear();
    walls.swap(border.open);
    maze.add_within(row, 0, walls);
    if (step > 0) {
      maze.add_below(row, 0, width, walls);
    } else {
      maze.add_below(row - 1, width, 0, walls);
    }
    std::fill(stands_for.begin(), stands_for.begin() + width, -1);
    std::iota(stands_for.begin() + width, stands_for.end(), 0);
    join_regions(2 * width, walls, [&](const Wall& wall, int32_t one, int32_t other) {
      int32_t& ours = stands_for[static_cast<size_t>(one)];
      const int32_t theirs = stands_for[static_cast<size_t>(other)];
      if (one == other) {
        border.fallen += maze.lucky(wall.cell);  // never the lightest way
      } else if (ours >= 0 && theirs >= 0) {
        border.open.push_back({wall.weight, wall.cell, ours, theirs});
      } else {
        ++border.fallen;  // the lightest way out of a region that has no room in the new row
        ours = std::max(ours, theirs);
      }
    });
  }
  return border;
}

}  // namespace

GridStrip maze_strip(int32_t rows, int32_t cols, uint64_t seed, double loops, Range rooms) {
  const Maze maze(rows, cols, seed, loops);
  const int32_t begin = static_cast<int32_t>(rooms.begin), end = static_cast<int32_t>(rooms.end);
  const int32_t top = std::max(begin - 1, 0), bottom = std::min(end, maze.height - 1);
  const Border above = look_at(maze, 0, top), below = look_at(maze, maze.height - 1, bottom);

  const auto first_of = [&](int32_t row) { return (row - top) * maze.width; };
  std::vector<Wall> walls = above.open;
  for (Wall wall : below.open) {
    wall.one += first_of(bottom);
    wall.other += first_of(bottom);
    walls.push_back(wall);
  }
  for (int32_t row = top; row <= bottom; ++row) {
    maze.add_within(row, first_of(row), walls);
    if (row < bottom) maze.add_below(row, first_of(row), first_of(row + 1), walls);
  }

  GridStrip strip{.rows = rows, .cols = cols};
  strip.own = {std::min<int64_t>(2 * begin, rows), std::min<int64_t>(2 * end, rows)};
  strip.first_row = static_cast<int32_t>(std::max<int64_t>(strip.own.begin - 1, 0));
  const int64_t last_row = std::min<int64_t>(strip.own.end + 1, rows);
  const int64_t from = int64_t{strip.first_row} * cols;
  strip.cells.assign(static_cast<size_t>(last_row * cols - from), '#');
  for (int64_t row = strip.first_row + strip.first_row % 2; row < last_row; row += 2) {
    for (int64_t col = 0; col < cols; col += 2) {
      strip.cells[static_cast<size_t>(row * cols + col - from)] = '.';
    }
  }
  strip.before = int64_t{begin} * maze.width + above.fallen;
  strip.total = int64_t{maze.height} * maze.width + above.fallen + below.fallen;
  join_regions(first_of(bottom + 1), walls, [&](const Wall& wall, int32_t one, int32_t other) {
    if (one == other && !maze.lucky(wall.cell)) return;
    strip.before += wall.cell < strip.own.begin * cols;
    ++strip.total;
    if (wall.cell < from || wall.cell >= last_row * cols) return;
    strip.cells[static_cast<size_t>(wall.cell - from)] = '.';
  });
  if (strip.first_row == 0) strip.cells.front() = 'S';
  if (last_row == rows) strip.cells.back() = 'G';
  return strip;
}

}  // namespace agora::planning

#include "agents/grid.h"

#include <utility>

#include "base/error.h"

namespace agora::agents::grid {
namespace {

constexpr int kMostRooms = 8 * 8, kMostWalls = 2 * 8 * 7;

struct Wall {
  uint8_t one, other;  // rooms
  uint8_t row, column;
};

Wall wall_between(int one, int other, int row, int column) {
  return {static_cast<uint8_t>(one), static_cast<uint8_t>(other), static_cast<uint8_t>(row),
          static_cast<uint8_t>(column)};
}

}  // namespace

void carve_maze(int side, int stride, uint8_t* open, Rng& rng) {
  const int rooms = (side + 1) / 2;  // in a row
  DCHECK(side % 2 == 1 && rooms * rooms <= kMostRooms, "side {}", side);
  std::array<Wall, kMostWalls> walls;
  std::array<uint8_t, kMostRooms> region;
  uint32_t count = 0;
  for (int r = 0; r < rooms; ++r) {
    for (int c = 0; c < rooms; ++c) {
      const int room = r * rooms + c;
      region[static_cast<size_t>(room)] = static_cast<uint8_t>(room);
      open[2 * r * stride + 2 * c] = 1;
      if (c + 1 < rooms) walls[count++] = wall_between(room, room + 1, 2 * r, 2 * c + 1);
      if (r + 1 < rooms) walls[count++] = wall_between(room, room + rooms, 2 * r + 1, 2 * c);
    }
  }
  const auto find = [&](uint8_t room) {
    while (region[room] != room) room = region[room] = region[region[room]];
    return room;
  };
  // The order is drawn as it is needed: the tree is whole before the last walls are looked at.
  for (int missing = rooms * rooms - 1; missing > 0; --count) {
    std::swap(walls[rng.below(count)], walls[count - 1]);
    const Wall& wall = walls[count - 1];
    const uint8_t one = find(wall.one), other = find(wall.other);
    if (one == other) continue;
    region[other] = one;
    open[wall.row * stride + wall.column] = 1;
    --missing;
  }
}

void Painter::fill(int top, int bottom, int left, int right, Colour colour,
                   std::byte* picture) const {
  for (int row = top; row < bottom; ++row) {
    std::byte* at = picture + (row * pixels_ + left) * 3;
    for (int column = left; column < right; ++column) {
      *at++ = std::byte{colour.red};
      *at++ = std::byte{colour.green};
      *at++ = std::byte{colour.blue};
    }
  }
}

void Painter::cell(int cell, Colour colour, std::byte* picture) const {
  const int row = cell / side_, column = cell % side_;
  fill(first(row), first(row + 1), first(column), first(column + 1), colour, picture);
}

void Painter::thing(int cell, Colour ground, Colour colour, std::byte* picture) const {
  this->cell(cell, ground, picture);
  const int row = cell / side_, column = cell % side_, edge = pixels_ / side_ / 5 + 1;
  fill(first(row) + edge, first(row + 1) - edge, first(column) + edge, first(column + 1) - edge,
       colour, picture);
}

}  // namespace agora::agents::grid

#pragma once
#include <array>
#include <cstdint>

#include "agents/environment.h"
#include "base/rng.h"

// What the games on a square of cells share: mazes, moves and pictures. A cell is row * side +
// column, the upper row first, as in a picture.
namespace agora::agents::grid {

inline constexpr int kActions = 15;  // as many as Procgen has

struct Move {
  int8_t down, right;
};
// Action a < 9 goes a / 3 - 1 to the right and a % 3 - 1 upwards, but sideways only where it could
// go both ways; the others stay.
inline constexpr std::array<Move, kActions> kMoves = [] {
  std::array<Move, kActions> moves{};
  for (int a = 0; a < 9; ++a) {
    const int right = a / 3 - 1, up = a % 3 - 1;
    moves[static_cast<size_t>(a)] = {static_cast<int8_t>(right == 0 ? -up : 0),
                                     static_cast<int8_t>(right)};
  }
  return moves;
}();

// A perfect maze of an odd side, by Kruskal's algorithm: rooms are the cells in even rows and
// columns; the walls between two fall in a random order where they part two regions. `open`, of
// (side, side) with `stride` cells from row to row, is 1 where one can walk; it is all 0 before.
void carve_maze(int side, int stride, uint8_t* open, Rng& rng);

struct Colour {
  uint8_t red, green, blue;
};

// Pictures of (pixels, pixels, 3) in which a cell is a square: pixel p shows cell p * side /
// pixels.
class Painter {
 public:
  constexpr Painter(int side, int pixels) : side_(side), pixels_(pixels) {}
  void cell(int cell, Colour colour, std::byte* picture) const;
  // A smaller square inside, for what stands on the ground.
  void thing(int cell, Colour ground, Colour colour, std::byte* picture) const;
  int pixels() const { return pixels_; }

 private:
  void fill(int top, int bottom, int left, int right, Colour colour, std::byte* picture) const;
  int first(int index) const { return (index * pixels_ + side_ - 1) / side_; }

  int side_, pixels_;
};

}  // namespace agora::agents::grid

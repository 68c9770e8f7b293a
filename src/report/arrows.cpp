#include "report/arrows.h"

#include "report/palette.h"

namespace agora::report {

std::vector<Arrow> arrows_at(const GridPicture& picture, int64_t cell) {
  constexpr double kAcross[] = {0, 1, 0, -1}, kDown[] = {-1, 0, 1, 0};
  constexpr double kCertain = 0.995, kVisible = 0.04;
  const Cell kind = cell_at(picture, cell);
  if (kind == Cell::kWall || kind == Cell::kGoal || kind == Cell::kPit) return {};
  const auto moves = moves_at(picture, cell);
  std::vector<Arrow> arrows;
  for (int move = 0; move < 4; ++move) {
    const double across = kAcross[move], down = kDown[move], probability = moves[move];
    if (probability >= kCertain)
      arrows.push_back(
          {0.5 - 0.3 * across, 0.5 - 0.3 * down, 0.5 + 0.3 * across, 0.5 + 0.3 * down, 0.2});
    else if (probability > kVisible)
      arrows.push_back({0.5, 0.5, 0.5 + (0.14 + 0.3 * probability) * across,
                        0.5 + (0.14 + 0.3 * probability) * down, 0.08 + 0.14 * probability});
  }
  return arrows;
}

}  // namespace agora::report

#include "report/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace agora::report {
namespace {

constexpr Rgb from_hex(uint32_t code) {
  return {static_cast<uint8_t>(code >> 16), static_cast<uint8_t>(code >> 8),
          static_cast<uint8_t>(code)};
}

constexpr std::array<uint32_t, kSeriesColours> kLight{0x0072b2, 0xd55e00, 0x009e73, 0xb8569a,
                                                      0xd99100, 0x3aa0dc, 0x6b7280};
constexpr std::array<uint32_t, kSeriesColours> kDark{0x55aee8, 0xff8f52, 0x35c9a3, 0xe79bcb,
                                                     0xf4c24f, 0x9adcff, 0xaab2bf};

constexpr std::array<uint32_t, 10> kMapStops{0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e,
                                             0x1f9e89, 0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725};

}  // namespace

Rgb series_colour(int index, bool dark) {
  return from_hex((dark ? kDark : kLight)[index % kSeriesColours]);
}

Rgb map_colour(double position) {
  position = std::isnan(position) ? 0 : std::clamp(position, 0.0, 1.0);
  position = std::round(position * (kMapLevels - 1)) / (kMapLevels - 1) * (kMapStops.size() - 1);
  const size_t stop = std::min<size_t>(static_cast<size_t>(position), kMapStops.size() - 2);
  const double part = position - static_cast<double>(stop);
  const Rgb from = from_hex(kMapStops[stop]), to = from_hex(kMapStops[stop + 1]);
  Rgb result;
  for (int i = 0; i < 3; ++i)
    result[i] = static_cast<uint8_t>(std::lround(from[i] + part * (to[i] - from[i])));
  return result;
}

bool wants_dark_ink(Rgb background) {
  return 0.299 * background[0] + 0.587 * background[1] + 0.114 * background[2] > 130;
}

std::string hex(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2]);
}

HeatColours::HeatColours(const HeatMap& map)
    : categories_(static_cast<int64_t>(map.categories.size())) {
  Extent extent;
  extent.add(map.values);
  scale_ = AxisScale({.low = map.low, .high = map.high}, extent, 0);
}

Rgb HeatColours::operator()(double value) const {
  if (!drawable(value)) return kGapColour;
  if (categories_ == 0) return map_colour(scale_(value));
  const bool known = value >= 0 && value < static_cast<double>(categories_);
  return known ? series_colour(static_cast<int>(value)) : kGapColour;
}

GridColours::GridColours(const GridPicture& picture) : picture_(picture) {
  Extent extent;
  const auto size = static_cast<int64_t>(picture.values.size());
  for (int64_t cell = 0; cell < size; ++cell)
    if (cell_at(picture, cell) != Cell::kWall) extent.add(picture.values[cell]);
  scale_ = AxisScale({}, extent, 0);
}

Rgb GridColours::operator()(int64_t cell) const {
  if (cell_at(picture_, cell) == Cell::kWall) return kWallColour;
  if (picture_.values.empty()) return kFreeColour;
  if (cell >= static_cast<int64_t>(picture_.values.size())) return kGapColour;
  const double value = picture_.values[cell];
  return drawable(value) ? map_colour(scale_(value)) : kGapColour;
}

Cell cell_at(const GridPicture& picture, int64_t cell) {
  const bool known = cell >= 0 && cell < static_cast<int64_t>(picture.cells.size());
  return known ? picture.cells[cell] : Cell::kFree;
}

std::array<double, 4> moves_at(const GridPicture& picture, int64_t cell) {
  std::array<double, 4> moves{};
  if (cell * 4 + 4 > static_cast<int64_t>(picture.moves.size())) return moves;
  for (int move = 0; move < 4; ++move) {
    const double probability = picture.moves[cell * 4 + move];
    moves[move] = std::isfinite(probability) ? std::clamp(probability, 0.0, 1.0) : 0;
  }
  return moves;
}

}  // namespace agora::report

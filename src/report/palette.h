#pragma once
#include <string>

#include "report/chart.h"
#include "report/png.h"
#include "report/scale.h"

namespace agora::report {

// Series colours, told apart by readers with any colour vision (after Okabe and Ito), one set for
// light and one for dark paper. The classes and CSS variables are named s0, s1, ...
inline constexpr int kSeriesColours = 7;
Rgb series_colour(int index, bool dark = false);

// Perceptually even from dark to light; the position is clamped to [0, 1]. At most
// kMapLevels different colours.
inline constexpr int kMapLevels = 240;
Rgb map_colour(double position);

// Legible on a cell of this colour.
bool wants_dark_ink(Rgb background);

std::string hex(Rgb colour);  // "#0072b2"

inline constexpr Rgb kGapColour{0xb9, 0xbd, 0xc4};  // no value here
inline constexpr Rgb kWallColour{0x5b, 0x61, 0x6b};
inline constexpr Rgb kFreeColour{0xee, 0xf1, 0xf5};  // free cell without a value
inline constexpr Rgb kStartColour{0xff, 0xff, 0xff};
inline constexpr Rgb kGoalColour{0x00, 0x9e, 0x73};
inline constexpr Rgb kPitColour{0xc8, 0x2b, 0x1d};
inline constexpr Rgb kPathColour{0xe6, 0x3b, 0x7a};
inline constexpr Rgb kInkColour{0x1b, 0x1e, 0x24};

// The colour of every cell of a picture, the same in every format.
class HeatColours {
 public:
  explicit HeatColours(const HeatMap& map);
  Rgb operator()(double value) const;
  const AxisScale& scale() const { return scale_; }  // of the colour bar

 private:
  AxisScale scale_;
  int64_t categories_;
};

class GridColours {
 public:
  explicit GridColours(const GridPicture& picture);
  Rgb operator()(int64_t cell) const;  // row * columns + column
  const AxisScale& scale() const { return scale_; }

 private:
  const GridPicture& picture_;
  AxisScale scale_;
};

// What is at a cell; a free one where the picture says nothing.
Cell cell_at(const GridPicture& picture, int64_t cell);

// Probabilities of up, right, down, left at a cell: (4), zeros where the picture has none.
std::array<double, 4> moves_at(const GridPicture& picture, int64_t cell);

}  // namespace agora::report

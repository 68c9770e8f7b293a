#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "report/chart.h"

namespace agora::report {

using Rgb = std::array<uint8_t, 3>;

// RGB, 8 bits each, row 0 at the top.
struct Raster {
  int64_t width = 0, height = 0;
  std::vector<uint8_t> pixels;  // (height, width, 3)

  Raster() = default;
  Raster(int64_t width, int64_t height, Rgb background);
  Rgb at(int64_t x, int64_t y) const;
  void set(int64_t x, int64_t y, Rgb colour);  // outside the picture: nothing
};

// The bytes of a PNG file.
std::string encode_png(const Raster& raster);

// A picture of an animation and how long it is seen.
struct Frame {
  Raster picture;
  int milliseconds = 0;
};
// The same with pictures of one size that follow on each other, for ever; others see the first.
std::string encode_apng(const std::vector<Frame>& frames);

// What those who write animations share: at least one picture, all of one size; and the smallest
// part, of one pixel at the least, outside of which two of them are the same.
void expect_one_size(const std::vector<Frame>& frames);
struct Area {
  int64_t x = 0, y = 0, width = 0, height = 0;
};
Area changed(const Raster& before, const Raster& after);

// Cells, walls, arrows, path and marks without words; the longer side has at most about
// `max_side` pixels. Cells smaller than a pixel are averaged.
Raster draw(const GridPicture& picture, int64_t max_side = 2000);
Raster draw(const HeatMap& map, int64_t max_side = 2000);

void write_png(const std::filesystem::path& file, const Raster& raster);

}  // namespace agora::report

#include "report/png.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "report/checksum.h"
#include "report/palette.h"

namespace agora::report {
namespace {

TEST(Checksum, KnownAnswers) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926u);
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xCBF43926u);
  EXPECT_EQ(adler32("Wikipedia"), 0x11E60398u);
  EXPECT_EQ(adler32(""), 1u);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  std::string counting;
  for (int i = 0; i < 32; ++i) counting += static_cast<char>(i);
  EXPECT_EQ(crc32c(counting), 0x46DD794Eu);
}

TEST(Png, BeginsAndEndsAsPngDoes) {
  const std::string png = encode_png(Raster(3, 2, {1, 2, 3}));
  EXPECT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\3\0\0\0\2", 8));
  EXPECT_EQ(png.substr(png.size() - 8), std::string("IEND\xae\x42\x60\x82"));
}

// Chunks in the order that the format of animated PNG asks for, numbered without a gap.
TEST(Png, AnimationsNumberTheirFrames) {
  const std::string png = encode_apng({{Raster(3, 2, {1, 2, 3}), 40},
                                       {Raster(3, 2, {4, 5, 6}), 40},
                                       {Raster(3, 2, {7, 8, 9}), 40}});
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t k = at; k < at + 4; ++k) value = value * 256 + static_cast<uint8_t>(png[k]);
    return value;
  };
  std::string types;
  uint32_t next = 0;
  for (size_t at = 8; at < png.size(); at += 12 + number(at)) {
    const std::string type = png.substr(at + 4, 4);
    types += type + " ";
    EXPECT_EQ(crc32(png.substr(at + 4, 4 + number(at))), number(at + 8 + number(at))) << type;
    if (type == "acTL") {
      EXPECT_EQ(number(at + 8), 3U);
    }
    if (type != "fcTL" && type != "fdAT") continue;
    EXPECT_EQ(number(at + 8), next++) << type;
    if (type == "fcTL") {  // its size, and 40 of 1000 parts of a second
      EXPECT_EQ(png.substr(at + 12, 8), std::string("\0\0\0\3\0\0\0\2", 8));
      EXPECT_EQ(png.substr(at + 28, 4), std::string("\0\x28\x03\xe8", 4));
    }
  }
  EXPECT_EQ(types, "IHDR acTL PLTE fcTL IDAT fcTL fdAT fcTL fdAT IEND ");
}

Rgb middle_of(const Raster& raster, int64_t row, int64_t column, int64_t size) {
  return raster.at(column * size + size / 2, row * size + size / 2);
}

TEST(Raster, GridShowsCellsAndMarks) {
  GridPicture picture{
      .rows = 2,
      .columns = 3,
      .cells = {Cell::kStart, Cell::kWall, Cell::kFree, Cell::kPit, Cell::kFree, Cell::kGoal},
      .values = {0, 0, 1, 0, NAN, 2},
      .moves = {}};
  const Raster raster = draw(picture);
  ASSERT_EQ(raster.width, 120);
  ASSERT_EQ(raster.height, 80);
  EXPECT_EQ(middle_of(raster, 0, 0, 40), kStartColour);
  EXPECT_EQ(middle_of(raster, 0, 1, 40), kWallColour);
  EXPECT_EQ(middle_of(raster, 0, 2, 40), map_colour(0.5));
  EXPECT_EQ(middle_of(raster, 1, 0, 40), kPitColour);
  EXPECT_EQ(middle_of(raster, 1, 1, 40), kGapColour);
  EXPECT_EQ(middle_of(raster, 1, 2, 40), kGoalColour);
}

TEST(Raster, ArrowsPointTheirWay) {
  GridPicture picture{.rows = 1, .columns = 2, .moves = {0, 1, 0, 0, 0, 0, 0, 1}};
  const Raster raster = draw(picture);
  // The heads are the widest part: dark pixels on either side of the middle.
  const auto dark = [&](int64_t from, int64_t to) {
    int64_t count = 0;
    for (int64_t x = from; x < to; ++x)
      for (int64_t y = 0; y < 40; ++y) count += raster.at(x, y) == kInkColour;
    return count;
  };
  EXPECT_GT(dark(20, 40), dark(0, 20));   // right
  EXPECT_GT(dark(40, 60), dark(60, 80));  // left
}

TEST(Raster, BigGridsShrink) {
  GridPicture picture{.rows = 5000, .columns = 2500};
  picture.cells.assign(5000 * 2500, Cell::kFree);
  picture.cells[0] = Cell::kGoal;
  const Raster raster = draw(picture, 1000);
  EXPECT_EQ(raster.height, 1000);
  EXPECT_EQ(raster.width, 500);
  EXPECT_EQ(raster.at(0, 0), kGoalColour) << "marks stay visible";
  EXPECT_EQ(raster.at(400, 900), kFreeColour);
}

TEST(Raster, HeatMapHasRowZeroAtTheBottomUnlessNamed) {
  HeatMap map{.rows = 2, .columns = 2, .values = {0, 0, 1, 1}};
  EXPECT_EQ(draw(map).at(0, 0), map_colour(1));
  map.row_names = {"top", "bottom"};
  EXPECT_EQ(draw(map).at(0, 0), map_colour(0));
}

TEST(Palette, StaysWithinOnePalette) {
  std::set<Rgb> colours;
  for (int i = 0; i <= 100'000; ++i) colours.insert(map_colour(i / 1e5));
  EXPECT_LE(colours.size(), 240u);
  EXPECT_GT(colours.size(), 200u);
  EXPECT_EQ(hex(map_colour(-5)), "#440154");
  EXPECT_EQ(hex(map_colour(7)), "#fde725");
  EXPECT_EQ(map_colour(NAN), map_colour(0));
}

}  // namespace
}  // namespace agora::report

// The C++ side of tests/scripts/read_png.py: `png_peer FOLDER` writes pictures and, beside each,
// its pixels as plain bytes (NAME.png, NAME.rgb).
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/rng.h"
#include "report/png.h"

namespace {

using agora::report::Raster;

void put(const std::filesystem::path& folder, const std::string& name, const Raster& raster) {
  agora::report::write_png(folder / (name + ".png"), raster);
  agora::write_atomically(
      folder / (name + ".rgb"),
      {reinterpret_cast<const char*>(raster.pixels.data()), raster.pixels.size()});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder = argv[1];
  agora::Rng rng(7);
  const auto byte = [&] { return static_cast<uint8_t>(rng.below(256)); };

  put(folder, "pixel", Raster(1, 1, {1, 2, 3}));
  put(folder, "flat", Raster(700, 300, {9, 9, 9}));  // repeats longer than the window
  Raster noise(301, 97, {});
  for (uint8_t& value : noise.pixels) value = byte();
  put(folder, "noise", noise);
  Raster slope(256, 200, {});
  for (int64_t y = 0; y < 200; ++y)
    for (int64_t x = 0; x < 256; ++x)
      slope.set(x, y,
                {static_cast<uint8_t>(x), static_cast<uint8_t>(y), static_cast<uint8_t>(x + y)});
  put(folder, "slope", slope);
  Raster colours(400, 400, {});  // exactly 256 colours, then one more
  for (int64_t i = 0; i < 160'000; ++i) colours.set(i % 400, i / 400, {byte(), 0, 0});
  put(folder, "palette", colours);
  colours.set(0, 0, {1, 1, 1});
  put(folder, "no_palette", colours);

  agora::report::GridPicture grid{.rows = 30, .columns = 50};
  for (int i = 0; i < 1500; ++i) {
    grid.cells.push_back(static_cast<agora::report::Cell>(rng.below(5)));
    grid.values.push_back(rng.normal());
    for (int move = 0; move < 4; ++move) grid.moves.push_back(move == i % 4);
  }
  put(folder, "grid", draw(grid));
}

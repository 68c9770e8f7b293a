// The C++ side of tests/scripts/read_films.py: `films_peer FOLDER` writes animations (NAME.png,
// NAME.gif), the pixels of all frames of one after the other (NAME.rgb) and, in NAME.txt, width,
// height and how long each frame is seen.
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/rng.h"
#include "report/gif.h"

namespace {

using agora::report::Frame;
using agora::report::Raster;

void put(const std::filesystem::path& folder, const std::string& name,
         const std::vector<Frame>& frames) {
  agora::write_atomically(folder / (name + ".png"), agora::report::encode_apng(frames));
  agora::write_atomically(folder / (name + ".gif"), agora::report::encode_gif(frames));
  std::string pixels, times;
  for (const Frame& frame : frames) {
    pixels.append(frame.picture.pixels.begin(), frame.picture.pixels.end());
    times += fmt::format(" {}", frame.milliseconds);
  }
  agora::write_atomically(folder / (name + ".rgb"), pixels);
  const Raster& first = frames.front().picture;
  agora::write_atomically(folder / (name + ".txt"),
                          fmt::format("{} {}{}", first.width, first.height, times));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  agora::Rng rng(11);
  const auto film = [&](int64_t width, int64_t height, int count, uint32_t colours) {
    Raster picture(width, height, {});
    for (int64_t k = 0; k < width * height; ++k) {
      picture.set(k % width, k / width, {static_cast<uint8_t>(rng.below(colours)), 40, 3});
    }
    std::vector<Frame> frames;
    for (int k = 0; k < count; ++k) {
      for (int64_t p = 0; p < 9; ++p) {
        picture.set(20 + k + p % 3, 10 + k + p / 3, {static_cast<uint8_t>(k), 200, 3});
      }
      frames.push_back({picture, 30 + 10 * k});
    }
    return frames;
  };
  put(argv[1], "few", film(80, 60, 12, 3));
  put(argv[1], "many", film(200, 150, 12, 240));
  std::vector<Frame> still = film(64, 64, 1, 9);
  still.push_back(still[0]);
  still.push_back(film(64, 64, 1, 9)[0]);
  put(argv[1], "still", still);
}

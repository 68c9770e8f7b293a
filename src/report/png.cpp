#include "report/png.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "report/checksum.h"
#include "report/deflate.h"

namespace agora::report {
namespace {

void put_chunk(std::string& out, std::string_view type, std::string_view data) {
  const std::string body = std::string(type).append(data);
  out += big_endian(static_cast<uint32_t>(data.size())) + body + big_endian(crc32(body));
}

// Rows of samples, each with the filter (none, left or above) whose output is nearest to zero.
std::string filtered(const std::string& samples, size_t stride, size_t bytes_per_pixel,
                     bool indexed) {
  std::string out;
  const std::string zeros(stride, 0);
  for (size_t start = 0; start + stride <= samples.size() && stride > 0; start += stride) {
    const char* row = samples.data() + start;
    const char* above = start == 0 ? zeros.data() : row - stride;
    std::string best;
    int64_t least = INT64_MAX;
    // Differences of palette indices mean nothing; plain rows compress best there.
    for (int filter = 0; filter <= (indexed ? 0 : 2); ++filter) {
      std::string candidate(1, static_cast<char>(filter));
      int64_t sum = 0;
      for (size_t i = 0; i < stride; ++i) {
        const char left = i < bytes_per_pixel ? 0 : row[i - bytes_per_pixel];
        const char prediction = filter == 0 ? 0 : filter == 1 ? left : above[i];
        candidate += static_cast<char>(row[i] - prediction);
        sum += std::abs(static_cast<int>(static_cast<signed char>(candidate.back())));
      }
      if (sum < least) {
        least = sum;
        best = std::move(candidate);
      }
    }
    out += best;
  }
  return out;
}

}  // namespace

Raster::Raster(int64_t width_, int64_t height_, Rgb background) : width(width_), height(height_) {
  pixels.resize(static_cast<size_t>(width * height * 3));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = background[i % 3];
}

Rgb Raster::at(int64_t x, int64_t y) const {
  const uint8_t* pixel = pixels.data() + (y * width + x) * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

void Raster::set(int64_t x, int64_t y, Rgb colour) {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  std::copy(colour.begin(), colour.end(), pixels.begin() + (y * width + x) * 3);
}

namespace {

void expect_pixels(const Raster& raster) {
  CHECK(raster.width > 0 && raster.height > 0, "a picture of {} x {} pixels", raster.width,
        raster.height);
  CHECK(static_cast<int64_t>(raster.pixels.size()) == raster.width * raster.height * 3);
}

// Pictures whose colours, if they are few, have one palette.
class Colours {
 public:
  explicit Colours(const std::vector<const Raster*>& rasters) {
    for (const Raster* raster : rasters) {
      expect_pixels(*raster);
      for (size_t at = 0; at < raster->pixels.size() && indexed_; at += 3)
        note(&raster->pixels[at]);
    }
  }

  std::string header(const Raster& raster) const {
    std::string out("\x89PNG\r\n\x1a\n", 8);
    const std::string_view format =
        indexed_ ? std::string_view("\x08\x03\0\0\0", 5) : std::string_view("\x08\x02\0\0\0", 5);
    put_chunk(out, "IHDR",
              big_endian(static_cast<uint32_t>(raster.width)) +
                  big_endian(static_cast<uint32_t>(raster.height)) + std::string(format));
    return out;
  }
  void put_palette(std::string& out) const {
    if (indexed_) put_chunk(out, "PLTE", palette_bytes_);
  }
  std::string data(const Raster& raster, const Area& area) const {
    std::string samples;
    for (int64_t y = area.y; y < area.y + area.height; ++y) {
      for (int64_t x = area.x; x < area.x + area.width; ++x) {
        const Rgb colour = raster.at(x, y);
        if (indexed_) {
          samples += static_cast<char>(palette_.at(colour));
        } else {
          samples.append(colour.begin(), colour.end());
        }
      }
    }
    const size_t bytes_per_pixel = indexed_ ? 1 : 3;
    return zlib_compress(filtered(samples, static_cast<size_t>(area.width) * bytes_per_pixel,
                                  bytes_per_pixel, indexed_));
  }

 private:
  void note(const uint8_t* pixel) {
    const Rgb colour{pixel[0], pixel[1], pixel[2]};
    if (palette_.contains(colour)) return;
    if (palette_.size() == 256) {
      indexed_ = false;
      return;
    }
    palette_.emplace(colour, static_cast<uint8_t>(palette_.size()));
    palette_bytes_.append(colour.begin(), colour.end());
  }

  bool indexed_ = true;  // one byte per pixel is enough
  std::map<Rgb, uint8_t> palette_;
  std::string palette_bytes_;
};

std::string big_endian_16(uint16_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value & 255)};
}

Area all_of(const Raster& raster) { return {0, 0, raster.width, raster.height}; }

}  // namespace

std::string encode_png(const Raster& raster) {
  const Colours colours({&raster});
  std::string out = colours.header(raster);
  colours.put_palette(out);
  put_chunk(out, "IDAT", colours.data(raster, all_of(raster)));
  put_chunk(out, "IEND", "");
  return out;
}

void expect_one_size(const std::vector<Frame>& frames) {
  CHECK(!frames.empty(), "an animation of nothing");
  const Raster& first = frames.front().picture;
  for (const Frame& frame : frames) {
    expect_pixels(frame.picture);
    CHECK(frame.picture.width == first.width && frame.picture.height == first.height,
          "pictures of different sizes");
  }
}

Area changed(const Raster& before, const Raster& after) {
  int64_t left = after.width, right = -1, top = after.height, bottom = -1;
  for (int64_t y = 0; y < after.height; ++y) {
    for (int64_t x = 0; x < after.width; ++x) {
      if (before.at(x, y) == after.at(x, y)) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = y;
    }
  }
  if (right < 0) return {0, 0, 1, 1};
  return {left, top, right - left + 1, bottom - top + 1};
}

std::string encode_apng(const std::vector<Frame>& frames) {
  expect_one_size(frames);
  std::vector<const Raster*> all;
  for (const Frame& frame : frames) all.push_back(&frame.picture);
  const Colours colours(all);
  std::string out = colours.header(*all.front());
  put_chunk(out, "acTL", big_endian(static_cast<uint32_t>(frames.size())) + big_endian(0));
  colours.put_palette(out);
  uint32_t number = 0;
  for (size_t k = 0; k < frames.size(); ++k) {
    const Area area = k == 0 ? all_of(*all[0]) : changed(*all[k - 1], *all[k]);
    std::string shown = big_endian(number++);  // where, how long, and the next one over it
    for (const int64_t each : {area.width, area.height, area.x, area.y}) {
      shown += big_endian(static_cast<uint32_t>(each));
    }
    shown += big_endian_16(static_cast<uint16_t>(frames[k].milliseconds)) + big_endian_16(1000) +
             std::string(2, '\0');
    put_chunk(out, "fcTL", shown);
    const std::string data = colours.data(*all[k], area);
    if (k == 0) {
      put_chunk(out, "IDAT", data);
    } else {
      put_chunk(out, "fdAT", big_endian(number++) + data);
    }
  }
  put_chunk(out, "IEND", "");
  return out;
}

void write_png(const std::filesystem::path& file, const Raster& raster) {
  write_atomically(file, encode_png(raster));
}

}  // namespace agora::report

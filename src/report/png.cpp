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

std::string encode_png(const Raster& raster) {
  CHECK(raster.width > 0 && raster.height > 0, "a picture of {} x {} pixels", raster.width,
        raster.height);
  CHECK(static_cast<int64_t>(raster.pixels.size()) == raster.width * raster.height * 3);
  // With few colours one byte per pixel is enough.
  std::map<Rgb, uint8_t> palette;
  std::string palette_bytes, indices;
  bool indexed = true;
  for (int64_t y = 0; y < raster.height && indexed; ++y)
    for (int64_t x = 0; x < raster.width; ++x) {
      const Rgb colour = raster.at(x, y);
      auto known = palette.find(colour);
      if (known == palette.end()) {
        if (palette.size() == 256) {
          indexed = false;
          break;
        }
        known = palette.emplace(colour, static_cast<uint8_t>(palette.size())).first;
        palette_bytes.append(colour.begin(), colour.end());
      }
      indices += static_cast<char>(known->second);
    }

  std::string out("\x89PNG\r\n\x1a\n", 8);
  const std::string_view format =
      indexed ? std::string_view("\x08\x03\0\0\0", 5) : std::string_view("\x08\x02\0\0\0", 5);
  put_chunk(out, "IHDR",
            big_endian(static_cast<uint32_t>(raster.width)) +
                big_endian(static_cast<uint32_t>(raster.height)) + std::string(format));
  if (indexed) put_chunk(out, "PLTE", palette_bytes);
  const std::string samples =
      indexed ? indices : std::string(raster.pixels.begin(), raster.pixels.end());
  const size_t bytes_per_pixel = indexed ? 1 : 3;
  put_chunk(out, "IDAT",
            zlib_compress(filtered(samples, static_cast<size_t>(raster.width) * bytes_per_pixel,
                                   bytes_per_pixel, indexed)));
  put_chunk(out, "IEND", "");
  return out;
}

void write_png(const std::filesystem::path& file, const Raster& raster) {
  write_atomically(file, encode_png(raster));
}

}  // namespace agora::report

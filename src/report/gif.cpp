#include "report/gif.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "base/error.h"

namespace agora::report {
namespace {

constexpr size_t kMostColours = 256;

std::string little_endian_16(int64_t value) {
  return {static_cast<char>(value & 255), static_cast<char>(value >> 8)};
}

struct Counted {
  Rgb colour;
  int64_t pixels;
};
using Box = std::vector<Counted>;

// The part of a colour in which a box is widest, and how wide it is there.
std::pair<size_t, int> widest(const Box& box) {
  std::pair<size_t, int> best{0, -1};
  for (size_t part = 0; part < 3; ++part) {
    const auto [low, high] = std::minmax_element(
        box.begin(), box.end(),
        [&](const Counted& a, const Counted& b) { return a.colour[part] < b.colour[part]; });
    const int width = high->colour[part] - low->colour[part];
    if (width > best.second) best = {part, width};
  }
  return best;
}

// Median cut: the widest box is halved by its pixels until there are enough.
std::vector<Box> boxes_of(Box all) {
  std::vector<Box> boxes{std::move(all)};
  while (boxes.size() < kMostColours) {
    const auto box = std::max_element(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
      return widest(a).second < widest(b).second;
    });
    const auto [part, width] = widest(*box);
    if (width == 0) break;  // every box is one colour
    std::sort(box->begin(), box->end(), [p = part](const Counted& a, const Counted& b) {
      return std::pair(a.colour[p], a.colour) < std::pair(b.colour[p], b.colour);
    });
    int64_t sum = 0;
    for (const Counted& each : *box) sum += each.pixels;
    size_t half = 1;
    for (int64_t before = box->front().pixels; half + 1 < box->size() && before < sum / 2; ++half) {
      before += (*box)[half].pixels;
    }
    Box upper(box->begin() + static_cast<int64_t>(half), box->end());
    box->resize(half);
    boxes.push_back(std::move(upper));
  }
  return boxes;
}

Rgb mean_of(const Box& box) {
  std::array<int64_t, 3> sums{};
  int64_t pixels = 0;
  for (const Counted& each : box) {
    for (size_t part = 0; part < 3; ++part) sums[part] += each.colour[part] * each.pixels;
    pixels += each.pixels;
  }
  Rgb mean;
  for (size_t part = 0; part < 3; ++part) {
    mean[part] = static_cast<uint8_t>((sums[part] + pixels / 2) / pixels);
  }
  return mean;
}

class Palette {
 public:
  explicit Palette(const std::vector<Frame>& frames) {
    std::map<Rgb, int64_t> counts;
    for (const Frame& frame : frames) {
      const std::vector<uint8_t>& pixels = frame.picture.pixels;
      for (size_t at = 0; at < pixels.size(); at += 3) {
        ++counts[{pixels[at], pixels[at + 1], pixels[at + 2]}];
      }
    }
    Box all;
    for (const auto& [colour, pixels] : counts) all.push_back({colour, pixels});
    std::vector<Box> boxes;
    if (all.size() > kMostColours) {
      boxes = boxes_of(std::move(all));
    } else {
      for (const Counted& each : all) boxes.push_back({each});
    }
    for (const Box& box : boxes) {
      for (const Counted& each : box) index_[each.colour] = static_cast<uint8_t>(colours_.size());
      colours_.push_back(mean_of(box));
    }
    while (size_t{1} << bits_ < colours_.size()) ++bits_;
  }

  int bits() const { return bits_; }  // 2 at the least, as the format's codes want it
  uint8_t index(Rgb colour) const { return index_.at(colour); }
  std::string bytes() const {
    std::string out;
    for (const Rgb& colour : colours_) out.append(colour.begin(), colour.end());
    out.resize(size_t{3} << bits_);
    return out;
  }

 private:
  std::map<Rgb, uint8_t> index_;
  std::vector<Rgb> colours_;
  int bits_ = 2;
};

// Codes of growing width, the lowest bit first.
class Codes {
 public:
  void put(uint32_t code, int bits) {
    held_ |= code << held_bits_;
    for (held_bits_ += bits; held_bits_ >= 8; held_bits_ -= 8, held_ >>= 8) {
      bytes_ += static_cast<char>(held_ & 255);
    }
  }
  std::string finish() {
    if (held_bits_ > 0) bytes_ += static_cast<char>(held_ & 255);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  uint32_t held_ = 0;
  int held_bits_ = 0;
};

// Lempel-Ziv-Welch as GIF has it. When all codes of 12 bits are taken it begins anew.
std::string compressed(const std::vector<uint8_t>& samples, int bits) {
  constexpr uint32_t kAllCodes = 4096;
  const uint32_t clear = 1U << bits, end = clear + 1;
  std::unordered_map<uint32_t, uint32_t> known;  // a code and a sample that follows: their code
  Codes codes;
  uint32_t next = end + 1, code = samples.front();
  int width = bits + 1;
  codes.put(clear, width);
  for (size_t at = 1; at < samples.size(); ++at) {
    const uint32_t longer = code << 8 | samples[at];
    if (const auto found = known.find(longer); found != known.end()) {
      code = found->second;
      continue;
    }
    codes.put(code, width);
    code = samples[at];
    if (next == kAllCodes) {
      codes.put(clear, width);
      known.clear();
      next = end + 1;
      width = bits + 1;
      continue;
    }
    known[longer] = next;
    if (next++ == 1U << width) ++width;  // the reader knows it one code later
  }
  codes.put(code, width);
  codes.put(end, next == 1U << width && width < 12 ? width + 1 : width);
  return codes.finish();
}

void put_blocks(std::string& out, const std::string& data) {
  constexpr size_t kLongest = 255;
  for (size_t at = 0; at < data.size(); at += kLongest) {
    const size_t length = std::min(kLongest, data.size() - at);
    out += static_cast<char>(length);
    out.append(data, at, length);
  }
  out += '\0';
}

void put_frame(std::string& out, const Raster& picture, const Area& area, int milliseconds,
               const Palette& palette) {
  out += std::string("\x21\xf9\x04\x04", 4);  // what is drawn stays
  out += little_endian_16((milliseconds + 5) / 10) + std::string(2, '\0');
  out += '\x2c';
  for (const int64_t number : {area.x, area.y, area.width, area.height}) {
    out += little_endian_16(number);
  }
  out += '\0';
  out += static_cast<char>(palette.bits());
  std::vector<uint8_t> samples;
  for (int64_t y = area.y; y < area.y + area.height; ++y) {
    for (int64_t x = area.x; x < area.x + area.width; ++x) {
      samples.push_back(palette.index(picture.at(x, y)));
    }
  }
  put_blocks(out, compressed(samples, palette.bits()));
}

}  // namespace

std::string encode_gif(const std::vector<Frame>& frames) {
  expect_one_size(frames);
  const Raster& first = frames.front().picture;
  CHECK(first.width < 65536 && first.height < 65536, "a GIF of {} x {} pixels", first.width,
        first.height);
  const Palette palette(frames);
  std::string out = "GIF89a" + little_endian_16(first.width) + little_endian_16(first.height);
  out += static_cast<char>(0xf0 | (palette.bits() - 1));  // a palette of so many bits
  out += std::string(2, '\0') + palette.bytes();
  out += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);  // for ever
  for (size_t k = 0; k < frames.size(); ++k) {
    const Raster& picture = frames[k].picture;
    const Area area = k == 0 ? Area{0, 0, picture.width, picture.height}
                             : changed(frames[k - 1].picture, picture);
    put_frame(out, picture, area, frames[k].milliseconds, palette);
  }
  return out + '\x3b';
}

}  // namespace agora::report

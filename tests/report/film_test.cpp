// Animations: what is in a GIF, read by a decoder that knows nothing of ours, and films of
// policies.
#include "report/film.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.h"
#include "report/gif.h"
#include "report/palette.h"

namespace agora::report {
namespace {

// A reader of GIF files after the specification; frames are put together as a viewer would.
class GifReader {
 public:
  explicit GifReader(const std::string& bytes) : bytes_(bytes) {
    EXPECT_EQ(bytes.substr(0, 6), "GIF89a");
    at_ = 6;
    const int64_t width = number(), height = number();
    const int packed = byte();
    EXPECT_TRUE(packed & 0x80) << "no palette for all";
    at_ += 2;
    const size_t colours = size_t{2} << (packed & 7);
    palette_ = bytes.substr(at_, 3 * colours);
    at_ += 3 * colours;
    screen_ = Raster(width, height, {});
    for (int mark = byte(); mark != 0x3b; mark = byte()) {
      if (mark == 0x21) {
        extension();
      } else {
        EXPECT_EQ(mark, 0x2c);
        image();
      }
      if (at_ >= bytes_.size()) throw std::runtime_error("it does not end");
    }
    EXPECT_EQ(at_, bytes.size());
  }

  std::vector<Frame> frames;
  bool for_ever = false;

 private:
  int byte() { return static_cast<uint8_t>(bytes_.at(at_++)); }
  int64_t number() {
    const int low = byte();
    return low + 256 * byte();
  }
  std::string blocks() {
    std::string all;
    for (int length = byte(); length != 0; length = byte()) {
      all += bytes_.substr(at_, static_cast<size_t>(length));
      at_ += static_cast<size_t>(length);
    }
    return all;
  }
  void extension() {
    const int kind = byte();
    const std::string data = blocks();
    if (kind == 0xff) for_ever = data == std::string("NETSCAPE2.0\x01\0\0", 14);
    if (kind == 0xf9) {
      EXPECT_EQ(data[0] >> 2 & 7, 1) << "what was drawn has to stay";
      milliseconds_ = 10 * (static_cast<uint8_t>(data[1]) + 256 * static_cast<uint8_t>(data[2]));
    }
  }
  void image() {
    const int64_t x = number(), y = number(), width = number(), height = number();
    EXPECT_EQ(byte(), 0);
    const int bits = byte();
    const std::string data = blocks();
    const std::string samples = decompressed(data, bits);
    ASSERT_EQ(samples.size(), static_cast<size_t>(width * height));
    for (int64_t k = 0; k < width * height; ++k) {
      const auto colour =
          3 * static_cast<size_t>(static_cast<uint8_t>(samples[static_cast<size_t>(k)]));
      screen_.set(
          x + k % width, y + k / width,
          {static_cast<uint8_t>(palette_[colour]), static_cast<uint8_t>(palette_[colour + 1]),
           static_cast<uint8_t>(palette_[colour + 2])});
    }
    frames.push_back({screen_, milliseconds_});
  }
  // A table of strings that grows by one with each code, but the first after it was cleared.
  static std::string decompressed(const std::string& data, int bits) {
    const size_t clear = size_t{1} << bits;
    std::vector<std::string> table;
    std::string out, before;
    size_t at = 0;
    int width = bits + 1;
    for (;;) {
      size_t code = 0;
      for (int bit = 0; bit < width; ++bit, ++at) {
        code |= static_cast<size_t>(static_cast<uint8_t>(data.at(at / 8)) >> at % 8 & 1) << bit;
      }
      if (code == clear) {
        table.clear();
        for (size_t k = 0; k < clear; ++k) table.emplace_back(1, static_cast<char>(k));
        table.resize(clear + 2);
        before.clear();
        width = bits + 1;
        continue;
      }
      if (code == clear + 1) break;
      std::string now = code < table.size() ? table[code] : before + before[0];
      EXPECT_LE(code, table.size());
      if (!before.empty() && table.size() < 4096) table.push_back(before + now[0]);
      if (table.size() == size_t{1} << width && width < 12) ++width;
      out += now;
      before = std::move(now);
    }
    EXPECT_EQ((at + 7) / 8, data.size());
    return out;
  }

  const std::string& bytes_;
  size_t at_ = 0;
  std::string palette_;
  Raster screen_;
  int milliseconds_ = 0;
};

// A point that walks over a ground of few colours.
std::vector<Frame> walk(int64_t width, int64_t height, int count, uint32_t colours) {
  Rng rng(3);
  Raster ground(width, height, {});
  for (int64_t k = 0; k < width * height; ++k) {
    const auto shade = static_cast<uint8_t>(rng.below(colours));
    ground.set(k % width, k / width, {shade, static_cast<uint8_t>(255 - shade), 7});
  }
  std::vector<Frame> frames;
  for (int k = 0; k < count; ++k) {
    frames.push_back({ground, 10 * (k + 1)});
    frames.back().picture.set(k / 2, k / 3, {1, 2, 3});
  }
  return frames;
}

void expect_read_as_written(const std::vector<Frame>& frames, const std::string& what) {
  const std::string bytes = encode_gif(frames);
  const GifReader read(bytes);
  EXPECT_TRUE(read.for_ever) << what;
  ASSERT_EQ(read.frames.size(), frames.size()) << what;
  for (size_t k = 0; k < frames.size(); ++k) {
    EXPECT_EQ(read.frames[k].picture.pixels, frames[k].picture.pixels) << what << ", frame " << k;
    EXPECT_EQ(read.frames[k].milliseconds, frames[k].milliseconds) << what;
  }
}

TEST(Gif, IsReadAsItWasWritten) {
  expect_read_as_written({{Raster(1, 1, {9, 8, 7}), 100}}, "a point");
  for (const uint32_t colours : {1U, 2U, 3U, 4U, 5U, 17U, 200U, 255U}) {
    expect_read_as_written(walk(61, 37, 7, colours), std::to_string(colours) + " colours");
  }
  expect_read_as_written(walk(300, 200, 2, 255), "more than all codes");
  expect_read_as_written({{Raster(500, 400, {1, 1, 1}), 40}, {Raster(500, 400, {1, 1, 1}), 40}},
                         "one colour");
}

// All lengths, so that the last code falls on every place where its width changes.
TEST(Gif, EndsWhereverItHasTo) {
  for (int64_t width = 1; width < 700; ++width) {
    expect_read_as_written({walk(width, 1, 1, 4)[0]}, std::to_string(width) + " pixels");
  }
}

TEST(Gif, MakesColoursThatAreNearOne) {
  Raster slope(64, 64, {});
  for (int64_t k = 0; k < 64 * 64; ++k) {
    slope.set(k % 64, k / 64,
              {static_cast<uint8_t>(4 * (k % 64)), static_cast<uint8_t>(4 * (k / 64)), 90});
  }
  const std::string bytes = encode_gif({{slope, 40}});
  const GifReader read(bytes);
  std::set<Rgb> colours;
  int worst = 0;
  for (int64_t k = 0; k < 64 * 64; ++k) {
    const Rgb was = slope.at(k % 64, k / 64), is = read.frames[0].picture.at(k % 64, k / 64);
    colours.insert(is);
    for (size_t part = 0; part < 3; ++part) worst = std::max(worst, std::abs(was[part] - is[part]));
  }
  EXPECT_EQ(colours.size(), 256U);
  EXPECT_LE(worst, 8);  // 16 x 16 boxes of 16 shades each
}

TEST(Film, MarksHowEpisodesEnd) {
  // Who peeks is right in 95 % of the zoos: both ends are seen.
  class Peeks : public agents::Policy {
   public:
    explicit Peeks(const agents::Space& space) : space_(space) {}
    const agents::Space& space() const override { return space_; }
    void logits(std::span<const std::byte>, int64_t, std::span<float> out) override {
      std::fill(out.begin(), out.end(), -100.0F);
      out[4] = 0;
    }

   private:
    agents::Space space_;
  };
  const agents::EvaluationOptions how{.environment = "zookeeper", .episodes = 60};
  Peeks policy(agents::make_environment("zookeeper", {.count = 1})->space());
  const Film made = film(policy, how, 20, 1000);
  ASSERT_EQ(made.frames.size(), 60U);
  EXPECT_TRUE(made.whole);
  std::set<double> returns;
  for (size_t k = 0; k < 60; ++k) {
    const bool earned = made.episodes[k].earned > 0;
    EXPECT_EQ(made.frames[k].picture.at(0, 100), earned ? kGoalColour : kGapColour) << k;
    EXPECT_GT(made.frames[k].milliseconds, 500);
    returns.insert(made.episodes[k].earned);
  }
  EXPECT_EQ(returns, (std::set<double>{0, 1}));
}

TEST(Film, KeepsTheFirstPictures) {
  const agents::EvaluationOptions how{.environment = "maze", .episodes = 2};
  const auto policy =
      agents::random_policy(agents::make_environment("maze", {.count = 1})->space());
  const Film whole = film(*policy, how, 20, 5000), part = film(*policy, how, 20, 10);
  EXPECT_TRUE(whole.whole);
  EXPECT_EQ(static_cast<int64_t>(whole.frames.size()),
            whole.episodes[0].steps + whole.episodes[1].steps);
  const size_t end = static_cast<size_t>(whole.episodes[0].steps);
  ASSERT_GT(end, 10U);
  for (size_t k = 0; k < whole.frames.size(); ++k) {
    const bool last = k + 1 == end || k + 1 == whole.frames.size();
    EXPECT_EQ(whole.frames[k].milliseconds > 50, last) << k;
  }
  EXPECT_FALSE(part.whole);
  ASSERT_EQ(part.frames.size(), 10U);
  for (size_t k = 0; k < 10; ++k) {
    EXPECT_EQ(part.frames[k].picture.pixels, whole.frames[k].picture.pixels);
    EXPECT_EQ(part.frames[k].milliseconds, 50);
  }
}

}  // namespace
}  // namespace agora::report

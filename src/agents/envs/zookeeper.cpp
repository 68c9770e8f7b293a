// The robotic zookeeper that chapter 3 opens with. A zoo has four enclosures and a map, drawn by
// hand: the closed ring stands for the otters, rings with a gap for other animals. Who reads the
// map earns 1, who peeks through all windows .95 on average, in every zoo.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "agents/worlds.h"

namespace agora::agents::kind_zookeeper {
namespace {

constexpr int kAcross = 2, kEnclosures = kAcross * kAcross;
constexpr int kEnclosure = 16, kSide = kAcross * kEnclosure;  // pixels
constexpr int32_t kPeek = kEnclosures;
constexpr double kPeekFinds = .95;

// In pixels. Rings have the same ink with and without a gap, and stay clear of the fences.
constexpr double kLeastInk = 18, kMostInk = 24, kGap = 3.2, kShift = 1.2;
constexpr double kOval = .06, kDent = .04;  // at most, of the radius
constexpr double kShake = .5, kSteady = 8;  // of a fence, steadier where it meets the other
constexpr int kPaper = 0, kPencil = 160, kGrain = 96;  // the darkness of each, and what is added

constexpr int kPoints = 64;  // of a ring
struct Circle {
  std::array<double, kPoints> x, y;
};
const Circle& circle() {
  static const Circle points = [] {
    Circle made;
    for (size_t i = 0; i < kPoints; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / kPoints;
      made.x[i] = std::cos(angle);
      made.y[i] = std::sin(angle);
    }
    return made;
  }();
  return points;
}

class Drawing {
 public:
  Drawing(std::array<uint8_t, kSide * kSide>& pixels, Rng& rng) : pixels_(pixels), rng_(rng) {
    pixels.fill(kPaper);
  }

  void ring(double x, double y, bool closed) {
    const Circle& unit = circle();
    const double ink = rng_.uniform(kLeastInk, kMostInk);
    const double radius = (closed ? ink : ink + kGap) / (2 * std::numbers::pi);
    const double oval = rng_.uniform(-kOval, kOval), dent = rng_.uniform(-kDent, kDent);
    const size_t turn = rng_.below(kPoints);
    const auto drawn =
        closed ? static_cast<size_t>(kPoints) : static_cast<size_t>(kPoints * ink / (ink + kGap));
    const size_t begin = rng_.below(kPoints);
    for (size_t k = 0; k < drawn; ++k) {
      const size_t i = (begin + k) % kPoints;
      const double reach = radius * (1 + oval * unit.x[(2 * i + turn) % kPoints] +
                                     dent * unit.y[(3 * i + turn) % kPoints]);
      dot(x + reach * unit.x[i], y + reach * unit.y[i]);
    }
  }

  // From edge to edge, down or to the right.
  void fence(bool down) {
    const size_t turn = rng_.below(kPoints), waves = 1 + rng_.below(3);
    for (int at = 0; at < kSide; ++at) {
      const size_t i = (static_cast<size_t>(at) * waves * kPoints / kSide + turn) % kPoints;
      const double shake = kShake * std::min(1.0, std::abs(at - kEnclosure) / kSteady);
      const double across = kEnclosure + .2 + shake * circle().x[i];
      down ? dot(across, at) : dot(at, across);
    }
  }

  void grain() {
    for (size_t i = 0; i < pixels_.size(); i += 4) {
      uint32_t bits = rng_.bits();
      for (size_t k = 0; k < 4; ++k, bits >>= 8) {
        pixels_[i + k] = static_cast<uint8_t>(pixels_[i + k] + (bits & 255) * kGrain / 256);
      }
    }
  }

 private:
  void dot(double x, double y) {
    pixels_[static_cast<size_t>(y) * kSide + static_cast<size_t>(x)] = kPencil;
  }

  std::array<uint8_t, kSide * kSide>& pixels_;
  Rng& rng_;
};

struct Zookeeper {
  struct Level {
    std::array<uint8_t, kSide * kSide> map;
    uint8_t otters;
  };
  struct State {
    uint8_t asked;  // 0; an episode is one step
  };

  static const Space& space() {
    // Random actions: one of five, of which one peeks and one is right by luck.
    static const Space space{{ObservationSpace::Type::kByte, {kSide, kSide, 1}},
                             kEnclosures + 1,
                             (1 + kPeekFinds) / (kEnclosures + 1),
                             1};
    return space;
  }
  static int32_t limit() { return 2; }  // is never reached
  static int64_t nanoseconds() { return 4000; }

  static void make(int64_t number, Level& level) {
    Rng rng(static_cast<uint64_t>(number), stream(Stream::kGenerate), 2);
    level.otters = static_cast<uint8_t>(rng.below(kEnclosures));
    Drawing drawing(level.map, rng);
    drawing.fence(true);
    drawing.fence(false);
    for (int each = 0; each < kEnclosures; ++each) {
      const double x = (each % kAcross + .5) * kEnclosure + rng.uniform(-kShift, kShift);
      const double y = (each / kAcross + .5) * kEnclosure + rng.uniform(-kShift, kShift);
      drawing.ring(x, y, each == level.otters);
    }
    drawing.grain();
  }
  static void begin(const Level&, State& state, Rng&) { state = {}; }
  static Outcome step(const Level& level, State&, int32_t action, Rng& rng) {
    const bool found = action == kPeek ? rng.uniform() < kPeekFinds : action == level.otters;
    return {found ? 1.0f : 0.0f, End::kTerminated};
  }
  static void observe(const Level& level, const State&, std::byte* bytes) {
    std::memcpy(bytes, level.map.data(), level.map.size());
  }
  static void update(const Level&, const State&, std::byte*) {}
  static bool possible(const Level&, const State& state) { return state.asked == 0; }

  static Environment::Picture picture(const Level& level, const State&) {
    constexpr int64_t kZoom = 8, kSize = kSide * kZoom;
    Environment::Picture picture{kSize, kSize, {}};
    for (int64_t row = 0; row < kSize; ++row) {
      for (int64_t column = 0; column < kSize; ++column) {
        const auto at = static_cast<size_t>(row / kZoom * kSide + column / kZoom);
        picture.rgb.insert(picture.rgb.end(), 3, static_cast<uint8_t>(255 - level.map[at]));
      }
    }
    return picture;
  }
};

}  // namespace

EnvironmentKind entry_zookeeper() {
  return {.name = "zookeeper",
          .summary = "find the otters by a hand-drawn map: 1, or by peeking through windows: .95",
          .make = [](const std::string&, const EnvironmentOptions& options) {
            return std::make_unique<Worlds<Zookeeper>>(Zookeeper(), options);
          }};
}

}  // namespace agora::agents::kind_zookeeper

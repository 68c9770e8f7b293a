// Procgen's easy heist, cell by cell: keys open doors of their colour, and the exit is behind the
// last.
#include <algorithm>

#include "agents/grid.h"
#include "agents/worlds.h"

namespace agora::agents::kind_heist {
namespace {

using namespace grid;

constexpr int kSide = 9, kCells = kSide * kSide;
constexpr int kDoors = 3;  // at most
constexpr float kReward = 10;
constexpr double kRandom = 4.0;  // what random actions earn, measured

// The cell next to one, or -1 outside.
int beside(int cell, int down, int right) {
  const int row = cell / kSide + down, column = cell % kSide + right;
  return row < 0 || row >= kSide || column < 0 || column >= kSide ? -1 : row * kSide + column;
}

struct Heist {
  // What lies on a cell: a key or a door of one of the colours 0 to 2, or the exit.
  static constexpr uint8_t kNothing = 0, kKey = 1, kDoor = kKey + kDoors, kExit = kDoor + kDoors;

  struct Level {
    std::array<uint8_t, kCells> open, things;
    uint8_t start;
  };
  struct State {
    uint8_t agent, before;  // cells: now, and before the last step
    uint8_t keys, opened;   // a bit for each colour
  };

  static void make(int64_t number, Level& level);
  static void begin(const Level& level, State& state, Rng&) {
    state = {level.start, level.start, 0, 0};
  }
  static Outcome step(const Level& level, State& state, int32_t action, Rng&) {
    const Move move = kMoves[static_cast<size_t>(action)];
    const int cell = beside(state.agent, move.down, move.right);
    state.before = state.agent;
    if (cell < 0 || !level.open[static_cast<size_t>(cell)]) return {};
    const uint8_t thing = level.things[static_cast<size_t>(cell)];
    if (thing >= kDoor && thing < kExit) {
      const auto colour = static_cast<uint8_t>(1 << (thing - kDoor));
      if (!(state.keys & colour)) return {};
      state.opened |= colour;
    } else if (thing >= kKey && thing < kDoor) {
      state.keys |= static_cast<uint8_t>(1 << (thing - kKey));
    }
    state.agent = static_cast<uint8_t>(cell);
    if (thing != kExit) return {};
    return {kReward, End::kTerminated};
  }

  // What is left there.
  static uint8_t thing(const Level& level, const State& state, int cell) {
    const uint8_t thing = level.things[static_cast<size_t>(cell)];
    if (thing == kNothing || thing == kExit) return thing;
    const bool key = thing < kDoor;
    const int gone = key ? state.keys >> (thing - kKey) : state.opened >> (thing - kDoor);
    return gone & 1 ? kNothing : thing;
  }

  static bool possible(const Level& level, const State& state) {
    return state.agent < kCells && state.before < kCells && level.open[state.agent] &&
           state.keys < 1 << kDoors && (state.opened & ~state.keys) == 0 &&
           thing(level, state, state.agent) == kNothing;
  }

  static int32_t limit() { return 1000; }

  static Environment::Picture picture(const Level& level, const State& state);
};

int open_around(const Heist::Level& level, int cell) {
  int count = 0;
  for (const auto [down, right] : {Move{1, 0}, Move{-1, 0}, Move{0, 1}, Move{0, -1}}) {
    const int other = beside(cell, down, right);
    count += other >= 0 && level.open[static_cast<size_t>(other)];
  }
  return count;
}

class Cells {
 public:
  void add(int cell) { cells_[static_cast<size_t>(count_++)] = static_cast<uint8_t>(cell); }
  int operator[](int index) const { return cells_[static_cast<size_t>(index)]; }
  int count() const { return count_; }
  // One of those from `first` on.
  int draw(int first, Rng& rng) const {
    CHECK(first < count_, "nothing to draw from");
    return (*this)[first + static_cast<int>(rng.below(static_cast<uint32_t>(count_ - first)))];
  }
  void remove(int cell) {
    count_ = static_cast<int>(std::remove(cells_.begin(), cells_.begin() + count_, cell) -
                              cells_.begin());
  }

 private:
  std::array<uint8_t, kCells> cells_;
  int count_ = 0;
};

void Heist::make(int64_t number, Level& level) {
  Rng rng(static_cast<uint64_t>(number), stream(Stream::kGenerate), 1);
  const auto below = [&](int bound) {
    return static_cast<int>(rng.below(static_cast<uint32_t>(bound)));
  };
  const int difficulty = below(3), side = 5 + 2 * difficulty;
  const int wanted = std::min(kDoors, difficulty + below(2));
  const int top = below(kSide - side + 1), left = below(kSide - side + 1);
  level.open.fill(0);
  level.things.fill(kNothing);
  carve_maze(side, kSide, level.open.data() + top * kSide + left, rng);

  Cells forks, starts;
  std::array<bool, kCells> is_door{};
  for (int cell = 0; cell < kCells; ++cell) {
    if (!level.open[static_cast<size_t>(cell)]) continue;
    starts.add(cell);
    if (open_around(level, cell) > 2) forks.add(cell);
  }
  const int doors = std::min(wanted, forks.count());
  for (int k = 0; k < doors; ++k) {
    const int door = forks.draw(0, rng);
    forks.remove(door);
    is_door[static_cast<size_t>(door)] = true;
    for (const auto [down, right] :
         {Move{0, 0}, Move{1, 0}, Move{-1, 0}, Move{0, 1}, Move{0, -1}}) {
      starts.remove(beside(door, down, right));
    }
  }
  level.start = static_cast<uint8_t>(starts.draw(0, rng));

  // Outwards from the agent: the k-th door met is door k, its key is on this side of it and beyond
  // the door before.
  std::array<bool, kCells> seen{};
  Cells reached, met;
  reached.add(level.start);
  seen[level.start] = true;
  for (int k = 0, looked = 0, region = 1;; ++k) {
    for (; looked < reached.count(); ++looked) {
      for (const auto [down, right] : {Move{1, 0}, Move{-1, 0}, Move{0, 1}, Move{0, -1}}) {
        const int cell = beside(reached[looked], down, right);
        if (cell < 0 || !level.open[static_cast<size_t>(cell)]) continue;
        if (std::exchange(seen[static_cast<size_t>(cell)], true)) continue;
        (is_door[static_cast<size_t>(cell)] ? met : reached).add(cell);
      }
    }
    const auto place = static_cast<size_t>(reached.draw(region, rng));
    if (k == doors) {
      level.things[place] = kExit;
      return;
    }
    level.things[place] = static_cast<uint8_t>(kKey + k);
    level.things[static_cast<size_t>(met[k])] = static_cast<uint8_t>(kDoor + k);
    reached.add(met[k]);
    region = reached.count();
  }
}

// Planes of walls, the agent, the exit, keys, doors, and, all over the plane, keys that are held.
struct Symbols : Heist {
  static constexpr int kPlanes = 3 + 3 * kDoors;
  static constexpr int kWalls = 0, kAgents = 1, kExits = 2, kKeys = 3, kLocked = 6, kHeld = 9;
  static constexpr std::byte kOn{255}, kOff{0};

  static const Space& space() {
    static const Space space{
        {ObservationSpace::Type::kByte, {kSide, kSide, kPlanes}}, kActions, kRandom, kReward};
    return space;
  }
  static int64_t nanoseconds() { return 20; }

  static void observe_cell(const Level& level, const State& state, int cell, std::byte* bytes) {
    std::byte* const planes = bytes + cell * kPlanes;
    std::fill(planes, planes + kHeld, kOff);
    if (!level.open[static_cast<size_t>(cell)]) planes[kWalls] = kOn;
    if (cell == state.agent) planes[kAgents] = kOn;
    const uint8_t there = thing(level, state, cell);
    if (there == kExit) {
      planes[kExits] = kOn;
    } else if (there >= kDoor) {
      planes[kLocked + there - kDoor] = kOn;
    } else if (there >= kKey) {
      planes[kKeys + there - kKey] = kOn;
    }
  }
  static void observe_held(const State& state, int colour, std::byte* bytes) {
    const std::byte held = state.keys >> colour & 1 ? kOn : kOff;
    for (int cell = 0; cell < kCells; ++cell) bytes[cell * kPlanes + kHeld + colour] = held;
  }
  static void observe(const Level& level, const State& state, std::byte* bytes) {
    for (int cell = 0; cell < kCells; ++cell) observe_cell(level, state, cell, bytes);
    for (int colour = 0; colour < kDoors; ++colour) observe_held(state, colour, bytes);
  }
  static void update(const Level& level, const State& state, std::byte* bytes) {
    observe_cell(level, state, state.before, bytes);
    observe_cell(level, state, state.agent, bytes);
    const uint8_t lay = level.things[state.agent];
    if (lay >= kKey && lay < kDoor) observe_held(state, lay - kKey, bytes);
  }
};

constexpr Colour kWall{88, 72, 104}, kFloor{24, 24, 32}, kAgent{235, 235, 235}, kGoal{250, 208, 64};
constexpr Colour kColours[kDoors] = {{64, 128, 255}, {80, 200, 96}, {230, 72, 72}};

void paint_cell(const Painter& painter, const Heist::Level& level, const Heist::State& state,
                int cell, std::byte* bytes) {
  if (cell == state.agent) return painter.thing(cell, kFloor, kAgent, bytes);
  const uint8_t there = Heist::thing(level, state, cell);
  if (there == Heist::kExit) return painter.thing(cell, kFloor, kGoal, bytes);
  if (there >= Heist::kDoor) return painter.cell(cell, kColours[there - Heist::kDoor], bytes);
  if (there >= Heist::kKey) {
    return painter.thing(cell, kFloor, kColours[there - Heist::kKey], bytes);
  }
  painter.cell(cell, level.open[static_cast<size_t>(cell)] ? kFloor : kWall, bytes);
}

// Over the lowest pixels lie the keys that are held.
struct Pixels : Heist {
  static constexpr int kSize = 64, kStrip = 3;  // pixels of the picture, of the row of keys
  static constexpr Painter kPainter{kSide, kSize};

  static const Space& space() {
    static const Space space{
        {ObservationSpace::Type::kByte, {kSize, kSize, 3}}, kActions, kRandom, kReward};
    return space;
  }
  static int64_t nanoseconds() { return 250; }

  static void paint_held(const State& state, std::byte* bytes) {
    for (int colour = 0; colour < kDoors; ++colour) {
      if (!(state.keys >> colour & 1)) continue;
      const Colour paint = kColours[colour];
      for (int row = kSize - kStrip; row < kSize; ++row) {
        for (int column = 8 * colour; column < 8 * colour + 6; ++column) {
          std::byte* const pixel = bytes + (row * kSize + column) * 3;
          pixel[0] = std::byte{paint.red};
          pixel[1] = std::byte{paint.green};
          pixel[2] = std::byte{paint.blue};
        }
      }
    }
  }
  static void observe(const Level& level, const State& state, std::byte* bytes) {
    for (int cell = 0; cell < kCells; ++cell) paint_cell(kPainter, level, state, cell, bytes);
    paint_held(state, bytes);
  }
  static void update(const Level& level, const State& state, std::byte* bytes) {
    paint_cell(kPainter, level, state, state.before, bytes);
    paint_cell(kPainter, level, state, state.agent, bytes);
    paint_held(state, bytes);
  }
};

Environment::Picture Heist::picture(const Level& level, const State& state) {
  const Painter large(kSide, 24 * kSide);
  Environment::Picture picture{large.pixels(), large.pixels(), {}};
  picture.rgb.resize(static_cast<size_t>(picture.height * picture.width * 3));
  for (int cell = 0; cell < kCells; ++cell) {
    paint_cell(large, level, state, cell, reinterpret_cast<std::byte*>(picture.rgb.data()));
  }
  return picture;
}

}  // namespace

EnvironmentKind entry_heist() {
  return {.name = "heist",
          .summary = "a maze with up to three doors and their keys: 10 at the exit behind the last",
          .forms = {"symbols", "pixels"},
          .make = [](const std::string& form,
                     const EnvironmentOptions& options) -> std::unique_ptr<Environment> {
            if (form == "pixels") return std::make_unique<Worlds<Pixels>>(Pixels(), options);
            return std::make_unique<Worlds<Symbols>>(Symbols(), options);
          }};
}

}  // namespace agora::agents::kind_heist

// Procgen's easy maze, cell by cell: a perfect maze of a random side in the middle of 15 x 15
// cells, from the lower left to a goal somewhere.
#include "agents/grid.h"
#include "agents/worlds.h"

namespace agora::agents::kind_maze {
namespace {

using namespace grid;

constexpr int kSide = 15, kCells = kSide * kSide;
constexpr int kShortest = 3, kSides = 7;  // 3, 5, ..., 15
constexpr float kReward = 10;
constexpr double kRandom = 4.3;  // what random actions earn, measured

struct Maze {
  struct Level {
    std::array<uint8_t, kCells> open;
    uint8_t start, goal;
  };
  struct State {
    uint8_t agent, before;  // cells: now, and before the last step
  };

  static void make(int64_t number, Level& level) {
    Rng rng(static_cast<uint64_t>(number), stream(Stream::kGenerate), 0);
    const int side = kShortest + 2 * static_cast<int>(rng.below(kSides));
    const int margin = (kSide - side) / 2;
    level.open.fill(0);
    carve_maze(side, kSide, level.open.data() + margin * (kSide + 1), rng);
    level.start = static_cast<uint8_t>((margin + side - 1) * kSide + margin);
    std::array<uint8_t, kCells> others;
    uint32_t count = 0;
    for (size_t cell = 0; cell < kCells; ++cell) {
      if (level.open[cell] && cell != level.start) others[count++] = static_cast<uint8_t>(cell);
    }
    level.goal = others[rng.below(count)];
  }

  static void begin(const Level& level, State& state, Rng&) { state = {level.start, level.start}; }

  static Outcome step(const Level& level, State& state, int32_t action, Rng&) {
    const Move move = kMoves[static_cast<size_t>(action)];
    const int row = state.agent / kSide + move.down, column = state.agent % kSide + move.right;
    state.before = state.agent;
    if (row < 0 || row >= kSide || column < 0 || column >= kSide) return {};
    const auto cell = static_cast<uint8_t>(row * kSide + column);
    if (!level.open[cell]) return {};
    state.agent = cell;
    if (cell != level.goal) return {};
    return {kReward, End::kTerminated};
  }

  static bool possible(const Level& level, const State& state) {
    return state.agent < kCells && state.before < kCells && level.open[state.agent] &&
           state.agent != level.goal;
  }

  static int32_t limit() { return 500; }

  static Environment::Picture picture(const Level& level, const State& state);
};

// Planes of walls, the agent and the goal.
struct Symbols : Maze {
  static constexpr int kPlanes = 3;
  static constexpr std::byte kOn{255}, kOff{0};

  static const Space& space() {
    static const Space space{
        {ObservationSpace::Type::kByte, {kSide, kSide, kPlanes}}, kActions, kRandom, kReward};
    return space;
  }
  static int64_t nanoseconds() { return 15; }

  static void observe(const Level& level, const State& state, std::byte* bytes) {
    for (size_t cell = 0; cell < kCells; ++cell) {
      bytes[cell * kPlanes] = level.open[cell] ? kOff : kOn;
      bytes[cell * kPlanes + 1] = bytes[cell * kPlanes + 2] = kOff;
    }
    bytes[state.agent * kPlanes + 1] = kOn;
    bytes[level.goal * kPlanes + 2] = kOn;
  }
  static void update(const Level&, const State& state, std::byte* bytes) {
    bytes[state.before * kPlanes + 1] = kOff;
    bytes[state.agent * kPlanes + 1] = kOn;
  }
};

constexpr Colour kWall{96, 64, 48}, kFloor{24, 24, 32}, kAgent{64, 160, 255}, kGoal{250, 208, 64};

void paint_cell(const Painter& painter, const Maze::Level& level, const Maze::State& state,
                int cell, std::byte* bytes) {
  if (cell == state.agent) return painter.thing(cell, kFloor, kAgent, bytes);
  if (cell == level.goal) return painter.thing(cell, kFloor, kGoal, bytes);
  painter.cell(cell, level.open[static_cast<size_t>(cell)] ? kFloor : kWall, bytes);
}

struct Pixels : Maze {
  static constexpr Painter kPainter{kSide, 64};

  static const Space& space() {
    static const Space space{
        {ObservationSpace::Type::kByte, {64, 64, 3}}, kActions, kRandom, kReward};
    return space;
  }
  static int64_t nanoseconds() { return 150; }

  static void observe(const Level& level, const State& state, std::byte* bytes) {
    for (int cell = 0; cell < kCells; ++cell) paint_cell(kPainter, level, state, cell, bytes);
  }
  static void update(const Level& level, const State& state, std::byte* bytes) {
    paint_cell(kPainter, level, state, state.before, bytes);
    paint_cell(kPainter, level, state, state.agent, bytes);
  }
};

Environment::Picture Maze::picture(const Level& level, const State& state) {
  const Painter large(kSide, 16 * kSide);
  Environment::Picture picture{large.pixels(), large.pixels(), {}};
  picture.rgb.resize(static_cast<size_t>(picture.height * picture.width * 3));
  for (int cell = 0; cell < kCells; ++cell) {
    paint_cell(large, level, state, cell, reinterpret_cast<std::byte*>(picture.rgb.data()));
  }
  return picture;
}

}  // namespace

EnvironmentKind entry_maze() {
  return {.name = "maze",
          .summary = "a perfect maze of side 3 to 15 from the lower left to a goal: 10 at the goal",
          .forms = {"symbols", "pixels"},
          .make = [](const std::string& form,
                     const EnvironmentOptions& options) -> std::unique_ptr<Environment> {
            if (form == "pixels") return std::make_unique<Worlds<Pixels>>(Pixels(), options);
            return std::make_unique<Worlds<Symbols>>(Symbols(), options);
          }};
}

}  // namespace agora::agents::kind_maze

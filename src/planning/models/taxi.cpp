#include <agora/planning/builder.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "planning/models/builtin.h"

namespace agora::planning::kind_taxi {
namespace {

// A bar is a wall between two cells of a row.
constexpr std::array<const char*, 5> kStreets{"|R: | : :G|", "| : | : : |", "| : : : : |",
                                              "| | : | : |", "|Y| : |B: |"};
constexpr std::array<std::pair<int, int>, 4> kStops{{{0, 0}, {0, 4}, {4, 0}, {4, 3}}};
constexpr int kInTaxi = 4;
constexpr State kDone = 500;

State encode(int row, int col, int passenger, int destination) {
  return ((row * 5 + col) * 5 + passenger) * 4 + destination;
}

struct Landing {
  State next;
  double reward;
};

Landing drive(int row, int col, int passenger, int destination, int action) {
  const auto open = [&](int gap) {
    return kStreets[static_cast<size_t>(row)][static_cast<size_t>(gap)] == ':';
  };
  const std::pair here{row, col};
  switch (action) {
    case 0:
      return {encode(std::min(row + 1, 4), col, passenger, destination), -1};
    case 1:
      return {encode(std::max(row - 1, 0), col, passenger, destination), -1};
    case 2:
      return {encode(row, col + open(2 * col + 2), passenger, destination), -1};
    case 3:
      return {encode(row, col - open(2 * col), passenger, destination), -1};
    case 4:
      if (passenger != kInTaxi && here == kStops[static_cast<size_t>(passenger)]) {
        return {encode(row, col, kInTaxi, destination), -1};
      }
      return {encode(row, col, passenger, destination), -10};
    default:
      if (passenger == kInTaxi && here == kStops[static_cast<size_t>(destination)]) {
        return {kDone, 20};
      }
      const auto stop = std::find(kStops.begin(), kStops.end(), here);
      if (passenger == kInTaxi && stop != kStops.end()) {
        return {encode(row, col, static_cast<int>(stop - kStops.begin()), destination), -1};
      }
      return {encode(row, col, passenger, destination), -10};
  }
}

// As in Gymnasium, with its 500 numbers; a delivery leads to the one terminal state, 500.
Model taxi() {
  ModelBuilder builder;
  builder.reserve(kDone + 1, 6);
  std::vector<std::string> names(kDone + 1);
  names[kDone] = "done";
  const char* const places[] = {"R", "G", "Y", "B", "taxi"};
  for (State s = 0; s < kDone; ++s) {
    const int destination = s % 4, passenger = s / 4 % 5, col = s / 20 % 5, row = s / 100;
    names[static_cast<size_t>(s)] =
        fmt::format("{}.{}.{}.{}", row, col, places[passenger], places[destination]);
    for (int action = 0; action < 6; ++action) {
      const auto [next, reward] = drive(row, col, passenger, destination, action);
      builder.add(s, action, next, 1.0, reward);
    }
    if (passenger < 4 && passenger != destination) builder.start(s, 1.0 / 300);
  }
  Model model = builder.build();
  model.set_state_names(std::move(names));
  model.set_action_names({"south", "north", "east", "west", "pickup", "dropoff"});
  return model;
}

}  // namespace

BuiltIn entry_taxi() {
  return {.name = "taxi",
          .summary = "Gymnasium's Taxi; states are ROW.COLUMN.PASSENGER.DESTINATION",
          .parameters = {},
          .make = [](const Told&) { return taxi(); }};
}

}  // namespace agora::planning::kind_taxi

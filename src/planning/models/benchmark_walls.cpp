#include "planning/models/benchmark_walls.h"

#include "base/error.h"
#include "planning/distributed/grid_share.h"

namespace agora::planning {
namespace {

constexpr uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

bool is_wall(uint64_t seed, int64_t cell) {
  const uint64_t bits = splitmix64(seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(cell));
  return static_cast<double>(bits >> 11) < 0.2 * 0x1p53;
}

// The least state from which `goal` can be reached; moves are reversible on this grid.
State first_connected(const std::vector<State>& successors, State goal, size_t states) {
  std::vector<bool> seen(states, false);
  std::vector<State> queue{goal};
  seen[static_cast<size_t>(goal)] = true;
  State first = goal;
  // The goal has no actions of its own, so its neighbours are those that lead to it.
  for (size_t s = 0; s < states; ++s) {
    for (size_t a = 0; a < 4; ++a) {
      if (successors[s * 4 + a] == goal && !seen[s]) {
        seen[s] = true;
        queue.push_back(static_cast<State>(s));
      }
    }
  }
  for (size_t head = 1; head < queue.size(); ++head) {
    const State s = queue[head];
    first = std::min(first, s);
    for (size_t a = 0; a < 4; ++a) {
      const State next = successors[static_cast<size_t>(s) * 4 + a];
      if (next != kNone && !seen[static_cast<size_t>(next)]) {
        seen[static_cast<size_t>(next)] = true;
        queue.push_back(next);
      }
    }
  }
  return first;
}

const std::vector<std::string> kActions{"up", "right", "down", "left"};

void check_side(int32_t n) {
  if (n < 2 || n > 40000) throw user_error("benchmark grid of side {}: expected 2 to 40000", n);
}

}  // namespace

Model benchmark_grid(int32_t n, uint64_t seed) {
  check_side(n);
  const int64_t cells = int64_t{n} * n;
  const int64_t goal_cell = int64_t{n / 2} * n + n / 2;
  Grid grid{n, n, std::string(static_cast<size_t>(cells), '.'), {}};
  std::vector<State> state_of(static_cast<size_t>(cells), kNone);
  for (int64_t cell = 0; cell < cells; ++cell) {
    if (cell != goal_cell && is_wall(seed, cell)) {
      grid.cells[static_cast<size_t>(cell)] = '#';
      continue;
    }
    state_of[static_cast<size_t>(cell)] = static_cast<State>(grid.cell_of_state.size());
    grid.cell_of_state.push_back(static_cast<int32_t>(cell));
  }
  grid.cells[static_cast<size_t>(goal_cell)] = 'G';

  const size_t states = grid.cell_of_state.size();
  const State goal = state_of[static_cast<size_t>(goal_cell)];
  std::vector<State> successors(states * 4, kNone);
  for (size_t s = 0; s < states; ++s) {
    if (static_cast<State>(s) == goal) continue;
    const int64_t cell = grid.cell_of_state[s], row = cell / n, col = cell % n;
    const bool inside[4] = {row > 0, col < n - 1, row<n - 1, col> 0};
    const int64_t to[4] = {cell - n, cell + 1, cell + n, cell - 1};
    for (size_t a = 0; a < 4; ++a) {
      const State next = inside[a] ? state_of[static_cast<size_t>(to[a])] : kNone;
      successors[s * 4 + a] = next == kNone ? static_cast<State>(s) : next;
    }
  }
  state_of = {};
  const State start = first_connected(successors, goal, states);
  grid.cells[static_cast<size_t>(grid.cell_of_state[static_cast<size_t>(start)])] = 'S';
  Model model = Model::deterministic(4, std::move(successors), Rewards(-1.0), {{goal, 0.0}});
  model.set_discount(0.99);
  model.set_start(start);
  model.set_action_names(kActions);
  model.set_grid(std::move(grid));
  return model;
}

ModelShare benchmark_grid_share(int32_t n, uint64_t seed, int share, int shares) {
  check_side(n);
  const int64_t goal_cell = int64_t{n / 2} * n + n / 2;
  GridStrip strip{.rows = n, .cols = n, .own = part_range(n, share, shares)};
  strip.first_row = static_cast<int32_t>(std::max<int64_t>(strip.own.begin - 1, 0));
  const int64_t from = int64_t{strip.first_row} * n;
  const int64_t until = std::min<int64_t>(strip.own.end + 1, n) * n;
  // Numbers of the states: those of the rows before by counting, which costs no memory.
  for (int64_t cell = 0; cell < int64_t{n} * n; ++cell) {
    const bool free = cell == goal_cell || !is_wall(seed, cell);
    strip.before += free && cell < strip.own.begin * n;
    strip.total += free;
    if (cell >= from && cell < until) strip.cells += cell == goal_cell ? 'G' : free ? '.' : '#';
  }
  return grid_share(strip, {.step_reward = -1.0, .goal_reward = 0.0});
}

}  // namespace agora::planning

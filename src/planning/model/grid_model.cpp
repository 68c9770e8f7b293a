#include "planning/model/grid_model.h"

#include <cmath>
#include <utility>

#include "base/error.h"

namespace agora::planning {
namespace {

struct Layout {
  Grid grid;
  std::vector<State> state_of;  // (cells), kNone for walls

  State after(State s, int move) const {
    const int32_t cell = grid.cell(s);
    const int32_t row = cell / grid.cols + kMoves[move].down;
    const int32_t col = cell % grid.cols + kMoves[move].right;
    if (row < 0 || row >= grid.rows || col < 0 || col >= grid.cols) return s;
    const State next = state_of[static_cast<size_t>(row) * static_cast<size_t>(grid.cols) +
                                static_cast<size_t>(col)];
    return next == kNone ? s : next;
  }
  char cell(State s) const { return grid.cells[static_cast<size_t>(grid.cell(s))]; }
  bool ends(State s) const { return cell(s) == 'G' || cell(s) == '!'; }
  State states() const { return static_cast<State>(grid.cell_of_state.size()); }
};

// One number where all steps cost the same, (states, per_state) otherwise.
Rewards step_rewards(const Layout& layout, const GridRules& rules,
                     const std::vector<uint32_t>& per_state) {
  if (layout.grid.cells.find_first_of("23456789") == std::string::npos) {
    return Rewards(rules.step_reward);
  }
  std::vector<double> rewards;
  for (State s = 0; s < layout.states(); ++s) {
    const uint32_t count = per_state.empty() ? 4 : per_state[static_cast<size_t>(s)];
    rewards.insert(rewards.end(), count, step_reward(layout.cell(s), rules));
  }
  return Rewards(std::move(rewards));
}

Model deterministic(const Layout& layout, const GridRules& rules, std::vector<Terminal> terminals) {
  std::vector<State> successors(static_cast<size_t>(layout.states()) * 4, kNone);
  for (State s = 0; s < layout.states(); ++s) {
    if (layout.ends(s)) continue;
    for (int a = 0; a < 4; ++a) {
      successors[static_cast<size_t>(s) * 4 + static_cast<size_t>(a)] = layout.after(s, a);
    }
  }
  return Model::deterministic(4, std::move(successors), step_rewards(layout, rules, {}),
                              std::move(terminals));
}

Model slippery(const Layout& layout, const GridRules& rules, std::vector<Terminal> terminals) {
  std::vector<uint32_t> row_begin{0}, per_state;
  std::vector<State> next;
  std::vector<double> probability;
  for (State s = 0; s < layout.states(); ++s) {
    const size_t before = next.size();
    for (int a = 0; a < 4; ++a) {
      const size_t begin = next.size();
      const std::pair<State, double> landings[3] = {{layout.after(s, a), 1.0 - rules.slip},
                                                    {layout.after(s, (a + 3) % 4), rules.slip / 2},
                                                    {layout.after(s, (a + 1) % 4), rules.slip / 2}};
      for (const auto& [state, p] : landings) {
        if (layout.ends(s) || p == 0) continue;
        size_t same = begin;
        while (same < next.size() && next[same] != state) ++same;
        if (same == next.size()) {
          next.push_back(state);
          probability.push_back(0);
        }
        probability[same] += p;
      }
      row_begin.push_back(static_cast<uint32_t>(next.size()));
    }
    per_state.push_back(static_cast<uint32_t>(next.size() - before));
  }
  Rewards rewards = step_rewards(layout, rules, per_state);
  return Model::stochastic(4, std::move(row_begin), std::move(next), std::move(probability),
                           std::move(rewards), std::move(terminals));
}

}  // namespace

void check_slip(double slip) {
  if (!(slip >= 0 && slip <= 1)) {
    throw user_error("the slip probability is {}, expected 0 to 1", slip);
  }
}

void check_rules(const GridRules& rules) {
  check_slip(rules.slip);
  for (const auto& [name, value] : {std::pair{"step", rules.step_reward},
                                    {"goal", rules.goal_reward},
                                    {"pit", rules.pit_reward}}) {
    if (!std::isfinite(value)) {
      throw user_error("the {} reward is {}, expected a finite number", name, value);
    }
  }
}

double step_reward(char cell, const GridRules& rules) {
  return cell >= '1' && cell <= '9' ? rules.step_reward * (cell - '0') : rules.step_reward;
}

Model grid_model(int32_t rows, int32_t cols, std::string cells, const GridRules& rules) {
  check_rules(rules);
  Layout layout{{rows, cols, std::move(cells), {}}, {}};
  layout.state_of.assign(layout.grid.cells.size(), kNone);
  std::vector<Terminal> terminals;
  std::vector<State> starts;
  State first_free = kNone;
  for (size_t cell = 0; cell < layout.grid.cells.size(); ++cell) {
    const char mark = layout.grid.cells[cell];
    if (mark == '#') continue;
    const State s = layout.states();
    layout.state_of[cell] = s;
    layout.grid.cell_of_state.push_back(static_cast<int32_t>(cell));
    if (mark == 'G') terminals.push_back({s, rules.goal_reward});
    if (mark == '!') terminals.push_back({s, rules.pit_reward});
    if (mark == 'S') starts.push_back(s);
    if (first_free == kNone && !layout.ends(s)) first_free = s;
  }
  if (starts.empty() && first_free != kNone) starts.push_back(first_free);
  if (layout.states() == 0) throw user_error("the map is empty: it has no free cell");
  Model model = rules.slip == 0 ? deterministic(layout, rules, std::move(terminals))
                                : slippery(layout, rules, std::move(terminals));
  model.set_action_names({kMoveNames, kMoveNames + 4});
  if (!starts.empty()) {
    std::vector<Start> distribution;
    for (const State s : starts) {
      distribution.push_back({s, 1.0 / static_cast<double>(starts.size())});
    }
    model.set_start(std::move(distribution));
  }
  model.set_grid(std::move(layout.grid));
  return model;
}

Model grid_model(const std::vector<std::string>& lines, const GridRules& rules) {
  std::string cells;
  for (const std::string& line : lines) cells += line;
  const size_t cols = lines.empty() ? 0 : lines[0].size();
  CHECK(cells.size() == lines.size() * cols, "a ragged map");
  return grid_model(static_cast<int32_t>(lines.size()), static_cast<int32_t>(cols),
                    std::move(cells), rules);
}

}  // namespace agora::planning

#include "planning/distributed/grid_share.h"

#include "base/error.h"
#include "planning/model/grid_model.h"

namespace agora::planning {

ModelShare grid_share(const GridStrip& strip, const GridRules& rules) {
  check_rules(rules);
  if (rules.slip != 0) throw stochastic_share();
  const int64_t cols = strip.cols, from = strip.first_row * cols;
  const int64_t begin = strip.own.begin * cols, end = strip.own.end * cols;
  const auto mark = [&](int64_t cell) { return strip.cells[static_cast<size_t>(cell - from)]; };
  std::vector<State> state_of(strip.cells.size(), kNone);
  int64_t next_state = strip.before;
  for (int64_t cell = from; cell < begin; ++cell) next_state -= mark(cell) != '#';
  for (size_t i = 0; i < strip.cells.size(); ++i) {
    if (strip.cells[i] != '#') state_of[i] = static_cast<State>(next_state++);
  }

  std::vector<State> successors;
  std::vector<int32_t> cells;
  std::vector<double> rewards;
  std::vector<Terminal> terminals;
  bool one_reward = true;
  for (int64_t cell = begin; cell < end; ++cell) {
    const State s = state_of[static_cast<size_t>(cell - from)];
    if (s == kNone) continue;
    const char own = mark(cell);
    const bool ends = own == 'G' || own == '!';
    if (ends) {
      terminals.push_back(
          {static_cast<State>(cells.size()), own == 'G' ? rules.goal_reward : rules.pit_reward});
    }
    cells.push_back(static_cast<int32_t>(cell));
    rewards.insert(rewards.end(), 4, step_reward(own, rules));
    one_reward &= rewards.back() == rules.step_reward;
    for (const Move& move : kMoves) {
      const int64_t row = cell / cols + move.down, col = cell % cols + move.right;
      const bool inside = row >= 0 && row < strip.rows && col >= 0 && col < cols;
      const State next = inside ? state_of[static_cast<size_t>(row * cols + col - from)] : kNone;
      successors.push_back(ends ? kNone : next == kNone ? s : next);
    }
  }
  ModelShare share = make_share(
      static_cast<State>(strip.before), static_cast<State>(cells.size()),
      static_cast<State>(strip.total), 4, std::move(successors),
      one_reward ? Rewards(rules.step_reward) : Rewards(std::move(rewards)), std::move(terminals));
  if (share.own > 0) share.model.set_action_names({kMoveNames, kMoveNames + 4});
  share.name = [cols = strip.cols, cells = std::move(cells)](State s) {
    const int32_t cell = cells[static_cast<size_t>(s)];
    return fmt::format("{},{}", cell / cols, cell % cols);
  };
  return share;
}

}  // namespace agora::planning

#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace agora::planning {

using State = int32_t;
using Action = int32_t;
inline constexpr State kNone = -1;  // the action does not exist in this state

// Rewards of many transitions, stored once where they are all equal, as one byte each where
// there are few different ones, and as doubles otherwise.
class Rewards {
 public:
  Rewards() = default;
  Rewards(double constant) : values_{constant} {}  // NOLINT: a number is a reward table
  explicit Rewards(std::vector<double> each);

  double operator[](int64_t i) const {
    if (!codes_.empty()) return values_[codes_[static_cast<size_t>(i)]];
    return values_.size() == 1 ? values_[0] : values_[static_cast<size_t>(i)];
  }
  bool constant() const { return codes_.empty() && values_.size() == 1; }
  bool fits(int64_t transitions) const;
  double min() const;
  double max() const;

 private:
  std::vector<double> values_{0.0};
  std::vector<uint8_t> codes_;
};

struct Terminal {
  State state;
  double reward;  // R(s_f)
};

struct Start {
  State state;
  double probability;
};

// Where the states lie when the model is a map; for pictures and names only.
struct Grid {
  int32_t rows = 0;
  int32_t cols = 0;
  std::string cells;                   // (rows * cols): # wall, . free, S start, G goal, ! pit, 1-9
  std::vector<int32_t> cell_of_state;  // empty: state s is cell s
  bool empty() const { return rows == 0; }
  int32_t cell(State s) const {
    return cell_of_state.empty() ? s : cell_of_state[static_cast<size_t>(s)];
  }
};

// A finite Markov decision process. A state without actions is terminal. Deterministic models
// keep a successor table, the others the rows of a sparse matrix, one row per (state, action).
class Model {
 public:
  // successors: (states, actions), kNone where the action does not exist; rewards likewise.
  static Model deterministic(Action actions, std::vector<State> successors, Rewards rewards,
                             std::vector<Terminal> terminals = {});
  // Row s * actions + a spans [row_begin[row], row_begin[row + 1]); an empty row is no action.
  static Model stochastic(Action actions, std::vector<uint32_t> row_begin, std::vector<State> next,
                          std::vector<double> probability, Rewards rewards,
                          std::vector<Terminal> terminals = {});

  State states() const { return states_; }
  Action actions() const { return actions_; }  // the largest number of actions of a state, d
  bool is_deterministic() const { return row_begin_.empty(); }
  int64_t transitions() const;  // the existing ones
  int64_t row(State s, Action a) const { return int64_t{s} * actions_ + a; }
  bool has(State s, Action a) const;
  bool terminal(State s) const;

  // One transition (s, a) -> next: probability one and a single one in deterministic models.
  struct Transition {
    State next;
    double probability;
    double reward;
  };
  int64_t transition_count(State s, Action a) const {
    const size_t r = static_cast<size_t>(row(s, a));
    if (is_deterministic()) return successors_[r] == kNone ? 0 : 1;
    return int64_t{row_begin_[r + 1]} - row_begin_[r];
  }
  Transition transition(State s, Action a, int64_t i) const {
    const int64_t r = row(s, a);
    if (is_deterministic()) return {successors_[static_cast<size_t>(r)], 1.0, rewards_[r]};
    const size_t t = row_begin_[static_cast<size_t>(r)] + static_cast<size_t>(i);
    return {next_[t], probability_[t], rewards_[static_cast<int64_t>(t)]};
  }
  double expected_reward(State s, Action a) const;

  // The tables themselves, for solvers.
  std::span<const State> successors() const { return successors_; }     // (states, actions)
  std::span<const uint32_t> row_begin() const { return row_begin_; }    // (states * actions + 1)
  std::span<const State> next() const { return next_; }                 // (transitions)
  std::span<const double> probability() const { return probability_; }  // (transitions)
  // Indexed by s * actions + a in deterministic models, by transition in the others.
  const Rewards& rewards() const { return rewards_; }

  // Terminal states in ascending order, each with its reward R(s_f) (zero if none was given).
  std::span<const Terminal> terminals() const { return terminals_; }
  double terminal_reward(State s) const;

  double discount() const { return discount_; }
  void set_discount(double discount);
  std::span<const Start> start() const { return start_; }  // state 0 if nothing was said
  void set_start(State s) { set_start(std::vector<Start>{{s, 1.0}}); }
  void set_start(std::vector<Start> distribution);

  // Names are optional; without them a state is its number, or "row,col" on a grid.
  void set_state_names(std::vector<std::string> names);
  void set_action_names(std::vector<std::string> names);
  std::string state_name(State s) const;
  std::string action_name(Action a) const;
  State find_state(const std::string& name) const;  // kNone if there is none
  Action find_action(const std::string& name) const;

  const Grid& grid() const { return grid_; }
  void set_grid(Grid grid);

 private:
  Model() = default;
  void set_terminals(std::vector<Terminal> given);

  State states_ = 0;
  Action actions_ = 0;
  double discount_ = 1.0;
  std::vector<State> successors_;
  std::vector<uint32_t> row_begin_;
  std::vector<State> next_;
  std::vector<double> probability_;
  Rewards rewards_;
  std::vector<Terminal> terminals_;
  std::vector<Start> start_;
  std::vector<std::string> state_names_, action_names_;
  Grid grid_;
};

}  // namespace agora::planning

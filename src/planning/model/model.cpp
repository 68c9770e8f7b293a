#include <agora/planning/model.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "base/huge_pages.h"

namespace agora::planning {
namespace {

constexpr double kLargestReward = 1e100;  // so that sums along paths stay numbers

// 9 times a finite step reward of a map may be infinite.
void check_reward(double reward) {
  CHECK(!std::isnan(reward), "a reward is no number");
  if (std::abs(reward) <= kLargestReward) return;
  throw user_error("a reward is {}, expected at most {} in size", reward, kLargestReward);
}

}  // namespace

Rewards::Rewards(std::vector<double> each) {
  // Few different values are coded as one byte; the table of bit patterns finds them in order.
  std::unordered_map<uint64_t, uint8_t> code_of;
  std::vector<double> values;
  std::vector<uint8_t> codes;
  codes.reserve(each.size());
  uint64_t last_bits = 0;
  uint8_t last_code = 0;
  for (const double value : each) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (values.empty() || bits != last_bits) {
      const auto found = code_of.find(bits);
      if (found != code_of.end()) {
        last_code = found->second;
      } else {
        if (values.size() == 256) {
          values_ = std::move(each);
          return;
        }
        last_code = static_cast<uint8_t>(values.size());
        code_of.emplace(bits, last_code);
        values.push_back(value);
      }
      last_bits = bits;
    }
    codes.push_back(last_code);
  }
  if (values.empty()) return;
  values_ = std::move(values);
  if (values_.size() > 1) codes_ = std::move(codes);
}

bool Rewards::fits(int64_t transitions) const {
  if (constant()) return true;
  return static_cast<int64_t>(codes_.empty() ? values_.size() : codes_.size()) == transitions;
}

double Rewards::min() const { return *std::min_element(values_.begin(), values_.end()); }
double Rewards::max() const { return *std::max_element(values_.begin(), values_.end()); }

Model Model::deterministic(Action actions, std::vector<State> successors, Rewards rewards,
                           std::vector<Terminal> terminals) {
  CHECK(actions > 0 && successors.size() % static_cast<size_t>(actions) == 0,
        "{} successors for {} actions", successors.size(), actions);
  Model model;
  model.actions_ = actions;
  model.states_ = static_cast<State>(successors.size() / static_cast<size_t>(actions));
  CHECK(rewards.fits(static_cast<int64_t>(successors.size())), "wrong number of rewards");
  for (const State next : successors) {
    CHECK(next >= kNone && next < model.states_, "successor {} of {} states", next, model.states_);
  }
  model.successors_ = std::move(successors);
  move_to_huge_pages(model.successors_);
  model.rewards_ = std::move(rewards);
  check_reward(model.rewards_.min());
  check_reward(model.rewards_.max());
  model.set_terminals(std::move(terminals));
  model.set_start(State{0});
  return model;
}

Model Model::stochastic(Action actions, std::vector<uint32_t> row_begin, std::vector<State> next,
                        std::vector<double> probability, Rewards rewards,
                        std::vector<Terminal> terminals) {
  CHECK(actions > 0 && row_begin.size() % static_cast<size_t>(actions) == 1 % actions &&
            row_begin.size() > 1,
        "{} row ends for {} actions", row_begin.size(), actions);
  CHECK(row_begin.front() == 0 && row_begin.back() == next.size() &&
            std::is_sorted(row_begin.begin(), row_begin.end()),
        "rows do not span the transitions");
  CHECK(probability.size() == next.size() && rewards.fits(static_cast<int64_t>(next.size())),
        "one probability and reward per transition");
  Model model;
  model.actions_ = actions;
  model.states_ = static_cast<State>((row_begin.size() - 1) / static_cast<size_t>(actions));
  for (const State s : next) {
    CHECK(s >= 0 && s < model.states_, "successor {} of {} states", s, model.states_);
  }
  for (size_t row = 0; row + 1 < row_begin.size(); ++row) {
    if (row_begin[row] == row_begin[row + 1]) continue;
    const double sum = std::accumulate(probability.begin() + row_begin[row],
                                       probability.begin() + row_begin[row + 1], 0.0);
    CHECK(std::abs(sum - 1.0) < 1e-9, "probabilities of row {} sum to {}", row, sum);
  }
  model.row_begin_ = std::move(row_begin);
  model.next_ = std::move(next);
  model.probability_ = std::move(probability);
  move_to_huge_pages(model.next_);
  move_to_huge_pages(model.probability_);
  model.rewards_ = std::move(rewards);
  check_reward(model.rewards_.min());
  check_reward(model.rewards_.max());
  model.set_terminals(std::move(terminals));
  model.set_start(State{0});
  return model;
}

void Model::set_terminals(std::vector<Terminal> given) {
  for (State s = 0; s < states_; ++s) {
    if (terminal(s)) terminals_.push_back({s, 0.0});
  }
  for (const Terminal& end : given) {
    CHECK(end.state >= 0 && end.state < states_ && terminal(end.state),
          "state {} has actions and is not terminal", end.state);
    check_reward(end.reward);
    std::lower_bound(terminals_.begin(), terminals_.end(), end.state,
                     [](const Terminal& t, State s) { return t.state < s; })
        ->reward = end.reward;
  }
}

int64_t Model::transitions() const {
  if (!is_deterministic()) return static_cast<int64_t>(next_.size());
  return static_cast<int64_t>(successors_.size()) -
         std::count(successors_.begin(), successors_.end(), kNone);
}

bool Model::has(State s, Action a) const { return transition_count(s, a) > 0; }

bool Model::terminal(State s) const {
  const size_t begin = static_cast<size_t>(row(s, 0));
  if (!is_deterministic()) {
    return row_begin_[begin] == row_begin_[begin + static_cast<size_t>(actions_)];
  }
  for (Action a = 0; a < actions_; ++a) {
    if (successors_[begin + static_cast<size_t>(a)] != kNone) return false;
  }
  return true;
}

double Model::expected_reward(State s, Action a) const {
  double sum = 0.0;
  for (int64_t i = 0, n = transition_count(s, a); i < n; ++i) {
    const Transition t = transition(s, a, i);
    sum += t.probability * t.reward;
  }
  return sum;
}

double Model::terminal_reward(State s) const {
  const auto found = std::lower_bound(terminals_.begin(), terminals_.end(), s,
                                      [](const Terminal& t, State v) { return t.state < v; });
  CHECK(found != terminals_.end() && found->state == s, "state {} is not terminal", s);
  return found->reward;
}

void Model::set_discount(double discount) {
  if (!(discount > 0.0 && discount <= 1.0)) {
    throw user_error("the discount is {}; expected a number above 0 and at most 1", discount);
  }
  discount_ = discount;
}

void Model::set_start(std::vector<Start> distribution) {
  double sum = 0.0;
  for (const Start& start : distribution) {
    if (start.state < 0 || start.state >= states_) {
      throw user_error("start state {}: the model has states 0 to {}", start.state, states_ - 1);
    }
    if (!(start.probability >= 0.0)) {
      throw user_error("start state {} has probability {}", state_name(start.state),
                       start.probability);
    }
    sum += start.probability;
  }
  if (!(std::abs(sum - 1.0) < 1e-5)) {
    throw user_error("the start distribution sums to {}, expected 1", sum);
  }
  for (Start& start : distribution) start.probability /= sum;
  std::erase_if(distribution, [](const Start& start) { return start.probability == 0.0; });
  start_ = std::move(distribution);
}

void Model::set_state_names(std::vector<std::string> names) {
  CHECK(names.empty() || static_cast<State>(names.size()) == states_, "{} names for {} states",
        names.size(), states_);
  state_names_ = std::move(names);
}

void Model::set_action_names(std::vector<std::string> names) {
  CHECK(names.empty() || static_cast<Action>(names.size()) == actions_, "{} names for {} actions",
        names.size(), actions_);
  action_names_ = std::move(names);
}

void Model::set_grid(Grid grid) {
  const size_t cells = static_cast<size_t>(grid.rows) * static_cast<size_t>(grid.cols);
  CHECK(grid.cells.size() == cells, "{} cells for {} x {}", grid.cells.size(), grid.rows,
        grid.cols);
  CHECK(grid.cell_of_state.empty() ? cells == static_cast<size_t>(states_)
                                   : grid.cell_of_state.size() == static_cast<size_t>(states_),
        "one cell per state");
  grid_ = std::move(grid);
}

std::string Model::state_name(State s) const {
  if (!state_names_.empty()) return state_names_[static_cast<size_t>(s)];
  if (!grid_.empty()) {
    return fmt::format("{},{}", grid_.cell(s) / grid_.cols, grid_.cell(s) % grid_.cols);
  }
  return std::to_string(s);
}

std::string Model::action_name(Action a) const {
  return action_names_.empty() ? std::to_string(a) : action_names_[static_cast<size_t>(a)];
}

State Model::find_state(const std::string& name) const {
  if (!state_names_.empty()) {
    const auto found = std::find(state_names_.begin(), state_names_.end(), name);
    return found == state_names_.end() ? kNone : static_cast<State>(found - state_names_.begin());
  }
  // Names that are made from numbers are numbers again.
  State first = 0, second = 0;
  const char* const end = name.data() + name.size();
  const char* comma = std::from_chars(name.data(), end, first).ptr;
  if (comma != end) std::from_chars(comma + 1, end, second);
  const auto found = [&]() -> State {
    if (grid_.empty()) return first;
    const int64_t cell = int64_t{first} * grid_.cols + second;
    if (grid_.cell_of_state.empty()) return static_cast<State>(std::min<int64_t>(cell, states_));
    const auto place = std::find(grid_.cell_of_state.begin(), grid_.cell_of_state.end(), cell);
    return static_cast<State>(place - grid_.cell_of_state.begin());
  }();
  return found >= 0 && found < states_ && state_name(found) == name ? found : kNone;
}

Action Model::find_action(const std::string& name) const {
  for (Action a = 0; a < actions_; ++a) {
    if (action_name(a) == name) return a;
  }
  return kNone;
}

}  // namespace agora::planning

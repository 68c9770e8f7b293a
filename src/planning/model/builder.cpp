#include <agora/planning/builder.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace agora::planning {
namespace {

template <typename Index>
Index index_of(const std::string& name, std::unordered_map<std::string, Index>& index,
               std::vector<std::string>& names, Index& count) {
  const auto [found, is_new] = index.try_emplace(name, count);
  if (is_new) {
    names.push_back(name);
    ++count;
  }
  return found->second;
}

}  // namespace

State ModelBuilder::state(const std::string& name) {
  return index_of(name, state_index_, state_names_, states_);
}

Action ModelBuilder::action(const std::string& name) {
  return index_of(name, action_index_, action_names_, actions_);
}

State ModelBuilder::find_state(const std::string& name) const {
  const auto found = state_index_.find(name);
  return found == state_index_.end() ? kNone : found->second;
}

Action ModelBuilder::find_action(const std::string& name) const {
  const auto found = action_index_.find(name);
  return found == action_index_.end() ? kNone : found->second;
}

void ModelBuilder::reserve(State states, Action actions) {
  states_ = std::max(states_, states);
  actions_ = std::max(actions_, actions);
}

void ModelBuilder::add(State s, Action a, State next, double probability, double reward,
                       int64_t line) {
  CHECK(s >= 0 && a >= 0 && next >= 0, "transition {},{},{}", s, a, next);
  if (!(probability >= 0.0 && probability <= 1.0 + sum_tolerance_)) {
    throw ModelError(fmt::format("probability is {}, expected a number from 0 to 1", probability),
                     line);
  }
  if (!std::isfinite(reward)) {
    throw ModelError(fmt::format("reward is {}, expected a finite number", reward), line);
  }
  reserve(std::max(s, next) + 1, a + 1);
  if (probability == 0.0) return;
  if (!scattered_ && !entries_.empty() && entries_.front().state != s) {
    if (is_complete(entries_)) {
      close(entries_);
      entries_.clear();
    } else {
      scatter();
    }
  }
  if (!scattered_ && static_cast<size_t>(s) < closed_.size() && closed_[static_cast<size_t>(s)]) {
    scatter();
  }
  entries_.push_back({s, next, a, static_cast<uint32_t>(line), probability, reward});
}

void ModelBuilder::terminal_reward(State s, double reward, int64_t line) {
  CHECK(s >= 0, "state {}", s);
  if (!std::isfinite(reward)) {
    throw ModelError(fmt::format("terminal reward is {}, expected a finite number", reward), line);
  }
  reserve(s + 1, actions_);
  end_rewards_.push_back({s, reward, line});
}

std::string ModelBuilder::name_of(State s) const {
  if (static_cast<size_t>(s) < state_names_.size()) {
    return printable(state_names_[static_cast<size_t>(s)]);
  }
  return call_ ? call_(s) : std::to_string(s);
}

std::string ModelBuilder::place(State s, Action a) const {
  const std::string action = static_cast<size_t>(a) < action_names_.size()
                                 ? printable(action_names_[static_cast<size_t>(a)])
                                 : std::to_string(a);
  return fmt::format("state '{}', action '{}'", name_of(s), action);
}

// Whether the probabilities of one state's actions sum to one, or more of them must come later.
bool ModelBuilder::is_complete(std::span<const Entry> entries) const {
  double sum = 0.0;
  for (size_t i = 0; i < entries.size(); ++i) {
    sum += entries[i].probability;
    if (i + 1 < entries.size() && entries[i].action == entries[i + 1].action) continue;
    if (!(std::abs(sum - 1.0) <= sum_tolerance_)) return false;
    sum = 0.0;
  }
  return true;
}

// The transitions of one state: sorted, equal ones added up, checked, and kept compactly.
void ModelBuilder::close(std::span<Entry> entries) {
  const State state = entries[0].state;
  const auto before = [](const Entry& a, const Entry& b) {
    return std::tie(a.action, a.next) < std::tie(b.action, b.next);
  };
  const uint32_t line = entries[0].line;
  if (!std::is_sorted(entries.begin(), entries.end(), before)) {
    std::stable_sort(entries.begin(), entries.end(), before);
  }
  for (size_t begin = 0, end; begin < entries.size(); begin = end) {
    const Action action = entries[begin].action;
    const uint32_t first_line = entries[begin].line;
    double sum = 0.0;
    size_t kept = begin;  // the row's entries after merging: [begin, kept]
    for (end = begin; end < entries.size() && entries[end].action == action; ++end) {
      const Entry entry = entries[end];
      sum += entry.probability;
      if (end > begin && entries[kept].next == entry.next) {
        if (entries[kept].reward != entry.reward) {
          throw ModelError(
              fmt::format("{}: the transition to '{}' is given twice, with rewards {} and {}",
                          place(state, action), name_of(entry.next), entries[kept].reward,
                          entry.reward),
              entry.line, entries[kept].line);
        }
        entries[kept].probability += entry.probability;
      } else if (end > begin) {
        entries[++kept] = entry;
      }
    }
    if (!(std::abs(sum - 1.0) <= sum_tolerance_)) {
      throw ModelError(
          fmt::format("{}: probabilities sum to {}, expected 1", place(state, action), sum),
          first_line);
    }
    for (size_t i = begin; i <= kept; ++i) {
      next_.push_back(entries[i].next);
      probability_.push_back(kept == begin ? 1.0 : entries[i].probability / sum);
      reward_.push_back(entries[i].reward);
    }
    row_action_.push_back(action);
    row_size_.push_back(static_cast<uint32_t>(kept - begin + 1));
  }
  if (next_.size() > UINT32_MAX) {
    throw ModelError(fmt::format("more than {} transitions", UINT32_MAX), line);
  }
  given_.push_back({state, static_cast<uint32_t>(row_action_.size()), line});
  if (closed_.size() <= static_cast<size_t>(state)) {
    closed_.resize(std::max(static_cast<size_t>(state) + 1, 2 * closed_.size()), false);
  }
  closed_[static_cast<size_t>(state)] = true;
}

// A state comes a second time: from here on everything is collected and sorted at the end.
void ModelBuilder::scatter() {
  scattered_ = true;
  size_t row = 0, t = 0;
  for (const Given& given : given_) {
    for (; row < given.row_end; ++row) {
      for (const size_t end = t + row_size_[row]; t < end; ++t) {
        entries_.push_back(
            {given.state, next_[t], row_action_[row], given.line, probability_[t], reward_[t]});
      }
    }
  }
  closed_ = {};
  given_ = {};
  row_action_ = {};
  row_size_ = {};
  next_ = {};
  probability_ = {};
  reward_ = {};
}

// The end of add(): every state becomes rows.
void ModelBuilder::gather() {
  if (absorbing_as_terminal_) drop_absorbing();
  // Stable, so that a row's first entry is the one given first.
  if (scattered_) {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.state < b.state; });
  }
  for (size_t begin = 0, end; begin < entries_.size(); begin = end) {
    for (end = begin; end < entries_.size() && entries_[end].state == entries_[begin].state;) ++end;
    close(std::span(entries_).subspan(begin, end - begin));
  }
  entries_ = {};
}

void ModelBuilder::drop_absorbing() {
  std::vector<char> leaves(static_cast<size_t>(states_), 0);
  for (const Entry& e : entries_) {
    if (e.next != e.state || e.reward != 0.0) leaves[static_cast<size_t>(e.state)] = 1;
  }
  std::erase_if(entries_, [&](const Entry& e) { return !leaves[static_cast<size_t>(e.state)]; });
}

int64_t ModelBuilder::line_of(State s) const {
  for (const Given& given : given_) {
    if (given.state == s) return given.line;
  }
  return 0;
}

std::vector<Terminal> ModelBuilder::terminals() const {
  std::vector<EndReward> sorted = end_rewards_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const EndReward& a, const EndReward& b) { return a.state < b.state; });
  std::vector<Terminal> terminals;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto [state, reward, line] = sorted[i];
    if (i > 0 && sorted[i - 1].state == state) {
      if (sorted[i - 1].reward == reward) continue;
      throw ModelError(fmt::format("state '{}': its terminal reward is given twice, as {} and {}",
                                   name_of(state), sorted[i - 1].reward, reward),
                       line, sorted[i - 1].line);
    }
    if (static_cast<size_t>(state) < closed_.size() && closed_[static_cast<size_t>(state)]) {
      throw ModelError(
          fmt::format("state '{}' has a terminal reward but also actions", name_of(state)), line,
          line_of(state));
    }
    terminals.push_back({state, reward});
  }
  return terminals;
}

Model ModelBuilder::deterministic_model() {
  const size_t actions = static_cast<size_t>(actions_);
  std::vector<State> successors(static_cast<size_t>(states_) * actions, kNone);
  const double first_reward = reward_.size() == 0 ? 0.0 : reward_[0];
  std::vector<double> rewards;
  if (!reward_.all_equal()) rewards.assign(successors.size(), first_reward);
  size_t row = 0;
  for (const Given& given : given_) {
    for (; row < given.row_end; ++row) {
      const size_t at =
          static_cast<size_t>(given.state) * actions + static_cast<size_t>(row_action_[row]);
      successors[at] = next_[row];
      if (!rewards.empty()) rewards[at] = reward_[row];
    }
  }
  std::vector<Terminal> ends = terminals();
  next_ = {};
  reward_ = {};
  return Model::deterministic(actions_, std::move(successors),
                              rewards.empty() ? Rewards(first_reward) : Rewards(std::move(rewards)),
                              std::move(ends));
}

Model ModelBuilder::stochastic_model() {
  const size_t actions = static_cast<size_t>(actions_);
  const size_t rows = static_cast<size_t>(states_) * actions;
  std::vector<uint32_t> row_begin(rows + 1, 0);
  const auto row_of = [&](const Given& given, size_t row) {
    return static_cast<size_t>(given.state) * actions + static_cast<size_t>(row_action_[row]);
  };
  size_t row = 0;
  bool in_order = true;
  for (size_t i = 0; i < given_.size(); ++i) {
    in_order &= i == 0 || given_[i - 1].state < given_[i].state;
    for (; row < given_[i].row_end; ++row) row_begin[row_of(given_[i], row) + 1] = row_size_[row];
  }
  for (size_t r = 0; r < rows; ++r) row_begin[r + 1] += row_begin[r];
  const bool one_reward = reward_.all_equal();
  const double first_reward = reward_[0];
  std::vector<State> next = std::move(next_);
  std::vector<double> probability = probability_.take();
  std::vector<double> rewards = one_reward ? std::vector<double>() : reward_.take();
  if (!in_order) {
    std::vector<State> sorted_next(next.size());
    std::vector<double> sorted_probability(next.size()), sorted_rewards(rewards.size());
    row = 0;
    size_t t = 0;
    for (const Given& given : given_) {
      for (; row < given.row_end; ++row) {
        size_t to = row_begin[row_of(given, row)];
        for (const size_t end = t + row_size_[row]; t < end; ++t, ++to) {
          sorted_next[to] = next[t];
          sorted_probability[to] = probability[t];
          if (!one_reward) sorted_rewards[to] = rewards[t];
        }
      }
    }
    next = std::move(sorted_next);
    probability = std::move(sorted_probability);
    rewards = std::move(sorted_rewards);
  }
  return Model::stochastic(actions_, std::move(row_begin), std::move(next), std::move(probability),
                           one_reward ? Rewards(first_reward) : Rewards(std::move(rewards)),
                           terminals());
}

Model ModelBuilder::build() {
  if (states_ == 0) throw ModelError("the model is empty: it has no states", 0);
  actions_ = std::max(actions_, 1);
  gather();
  const bool one_successor = row_size_.all_equal() && (row_size_.size() == 0 || row_size_[0] == 1);
  Model model = one_successor ? deterministic_model() : stochastic_model();
  model.set_discount(discount_);
  if (!state_names_.empty()) {
    for (State s = static_cast<State>(state_names_.size()); s < states_; ++s) {
      state_names_.push_back(std::to_string(s));
    }
    model.set_state_names(std::move(state_names_));
  }
  if (!action_names_.empty()) {
    for (Action a = static_cast<Action>(action_names_.size()); a < actions_; ++a) {
      action_names_.push_back(std::to_string(a));
    }
    model.set_action_names(std::move(action_names_));
  }
  if (!start_.empty()) model.set_start(std::move(start_));
  *this = ModelBuilder();
  return model;
}

}  // namespace agora::planning

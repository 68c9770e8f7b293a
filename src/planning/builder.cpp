#include <agora/planning/builder.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

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
  if (probability > 0.0) {
    entries_.push_back({s, next, a, static_cast<uint32_t>(line), probability, reward});
  }
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
  return static_cast<size_t>(s) < state_names_.size() ? state_names_[static_cast<size_t>(s)]
                                                      : std::to_string(s);
}

std::string ModelBuilder::place(State s, Action a) const {
  const std::string action = static_cast<size_t>(a) < action_names_.size()
                                 ? action_names_[static_cast<size_t>(a)]
                                 : std::to_string(a);
  return fmt::format("state '{}', action '{}'", name_of(s), action);
}

void ModelBuilder::sort_entries() {
  const auto key = [](const Entry& e) { return std::tuple(e.state, e.action, e.next); };
  const auto before = [&](const Entry& a, const Entry& b) { return key(a) < key(b); };
  // Files are mostly sorted already.
  if (!std::is_sorted(entries_.begin(), entries_.end(), before)) {
    std::stable_sort(entries_.begin(), entries_.end(), before);
  }
}

void ModelBuilder::merge_equal_entries() {
  size_t kept = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (kept > 0) {
      Entry& last = entries_[kept - 1];
      if (last.state == entry.state && last.action == entry.action && last.next == entry.next) {
        if (last.reward != entry.reward) {
          throw ModelError(
              fmt::format("{}: the transition to '{}' is given twice, with rewards {} and {}",
                          place(entry.state, entry.action), name_of(entry.next), last.reward,
                          entry.reward),
              entry.line, last.line);
        }
        last.probability += entry.probability;
        continue;
      }
    }
    entries_[kept++] = entry;
  }
  entries_.resize(kept);
}

void ModelBuilder::check_sums() {
  for (size_t begin = 0, end; begin < entries_.size(); begin = end) {
    double sum = 0.0;
    for (end = begin; end < entries_.size() && entries_[end].state == entries_[begin].state &&
                      entries_[end].action == entries_[begin].action;
         ++end) {
      sum += entries_[end].probability;
    }
    if (!(std::abs(sum - 1.0) <= sum_tolerance_)) {
      throw ModelError(fmt::format("{}: probabilities sum to {}, expected 1",
                                   place(entries_[begin].state, entries_[begin].action), sum),
                       entries_[begin].line);
    }
    for (size_t i = begin; i < end; ++i) entries_[i].probability /= sum;
  }
}

void ModelBuilder::drop_absorbing() {
  std::vector<char> leaves(static_cast<size_t>(states_), 0);
  for (const Entry& e : entries_) {
    if (e.next != e.state || e.reward != 0.0) leaves[static_cast<size_t>(e.state)] = 1;
  }
  std::erase_if(entries_, [&](const Entry& e) { return !leaves[static_cast<size_t>(e.state)]; });
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
    const auto first = std::lower_bound(entries_.begin(), entries_.end(), state,
                                        [](const Entry& e, State s) { return e.state < s; });
    if (first != entries_.end() && first->state == state) {
      throw ModelError(
          fmt::format("state '{}' has a terminal reward but also actions", name_of(state)), line,
          first->line);
    }
    terminals.push_back({state, reward});
  }
  return terminals;
}

Model ModelBuilder::deterministic_model() {
  std::vector<State> successors(static_cast<size_t>(states_) * static_cast<size_t>(actions_),
                                kNone);
  std::vector<double> rewards(successors.size(), entries_.empty() ? 0.0 : entries_[0].reward);
  for (const Entry& e : entries_) {
    const size_t row = static_cast<size_t>(e.state) * static_cast<size_t>(actions_) +
                       static_cast<size_t>(e.action);
    successors[row] = e.next;
    rewards[row] = e.reward;
  }
  std::vector<Terminal> ends = terminals();
  entries_ = {};
  return Model::deterministic(actions_, std::move(successors), Rewards(std::move(rewards)),
                              std::move(ends));
}

Model ModelBuilder::stochastic_model() {
  const size_t rows = static_cast<size_t>(states_) * static_cast<size_t>(actions_);
  std::vector<uint32_t> row_begin(rows + 1, 0);
  std::vector<State> next;
  std::vector<double> probability, rewards;
  next.reserve(entries_.size());
  probability.reserve(entries_.size());
  rewards.reserve(entries_.size());
  for (const Entry& e : entries_) {
    ++row_begin[static_cast<size_t>(e.state) * static_cast<size_t>(actions_) +
                static_cast<size_t>(e.action) + 1];
    next.push_back(e.next);
    probability.push_back(e.probability);
    rewards.push_back(e.reward);
  }
  for (size_t row = 0; row < rows; ++row) row_begin[row + 1] += row_begin[row];
  std::vector<Terminal> ends = terminals();
  entries_ = {};
  return Model::stochastic(actions_, std::move(row_begin), std::move(next), std::move(probability),
                           Rewards(std::move(rewards)), std::move(ends));
}

Model ModelBuilder::build() {
  if (states_ == 0) throw ModelError("the model is empty: it has no states", 0);
  if (entries_.size() > UINT32_MAX) {
    throw ModelError(fmt::format("{} transitions; at most {} fit", entries_.size(), UINT32_MAX), 0);
  }
  actions_ = std::max(actions_, 1);
  sort_entries();
  merge_equal_entries();
  check_sums();
  if (absorbing_as_terminal_) drop_absorbing();
  bool one_successor = true;
  for (size_t i = 1; i < entries_.size() && one_successor; ++i) {
    one_successor =
        entries_[i].state != entries_[i - 1].state || entries_[i].action != entries_[i - 1].action;
  }
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

#pragma once
#include <agora/error.h>
#include <agora/planning/model.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace agora::planning {

// What is wrong with a model that was given transition by transition. what() says it without
// the place; `line` and `other_line` (0: none) are those given to add(), for a parser to name.
class ModelError : public UserError {
 public:
  ModelError(const std::string& message, int64_t line, int64_t other_line = 0)
      : UserError(message), line_(line), other_line_(other_line) {}
  int64_t line() const { return line_; }
  int64_t other_line() const { return other_line_; }

 private:
  int64_t line_, other_line_;
};

// A list of values: stored once while all are equal, as one byte each while there are at most 256
// different ones, and in full beyond that.
template <typename T>
class CompactList {
 public:
  void push_back(T value) {
    ++count_;
    if (!each_.empty()) return each_.push_back(value);
    uint8_t code = last_;
    if (kinds_.empty() || !(value == kinds_[last_])) {
      size_t found = 0;
      while (found < kinds_.size() && !(value == kinds_[found])) ++found;
      if (found == 256) {
        for (const uint8_t each : codes_) each_.push_back(kinds_[each]);
        each_.push_back(value);
        codes_ = {};
        return;
      }
      if (found == kinds_.size()) kinds_.push_back(value);
      if (found == 1 && codes_.empty()) codes_.assign(count_ - 1, 0);
      code = static_cast<uint8_t>(found);
    }
    last_ = code;
    if (kinds_.size() > 1) codes_.push_back(code);
  }
  T operator[](size_t i) const {
    if (!each_.empty()) return each_[i];
    return kinds_[codes_.empty() ? 0 : codes_[i]];
  }
  size_t size() const { return count_; }
  bool all_equal() const { return each_.empty() && kinds_.size() <= 1; }
  // Written out in full; empties this.
  std::vector<T> take() {
    std::vector<T> all = std::move(each_);
    if (all.empty()) {
      all.reserve(count_);
      for (size_t i = 0; i < count_; ++i) all.push_back((*this)[i]);
    }
    *this = {};
    return all;
  }

 private:
  size_t count_ = 0;
  std::vector<T> kinds_;
  std::vector<uint8_t> codes_;  // empty while there is one kind
  std::vector<T> each_;         // in place of both
  uint8_t last_ = 0;
};

// Collects transitions in any order and checks them. While the transitions of a state come
// together, it needs little more memory than the model. Equal transitions given twice add up their
// probabilities; the same (s, a, s') with another reward is an error. Rows whose probabilities
// sum to one within `sum_tolerance` are scaled to do so exactly; others are an error.
class ModelBuilder {
 public:
  // States and actions by name, made on first use...
  State state(const std::string& name);
  Action action(const std::string& name);
  State find_state(const std::string& name) const;  // kNone if unknown
  Action find_action(const std::string& name) const;
  // ... or by number; the model has at least this many.
  void reserve(State states, Action actions);
  State states() const { return states_; }
  Action actions() const { return actions_; }

  void add(State s, Action a, State next, double probability, double reward, int64_t line = 0);
  void terminal_reward(State s, double reward, int64_t line = 0);
  void start(State s, double probability = 1.0) { start_.push_back({s, probability}); }
  void discount(double discount) { discount_ = discount; }
  // How messages call the states that have no name of their own.
  void call_states(std::function<std::string(State)> name) { call_ = std::move(name); }
  void sum_tolerance(double tolerance) { sum_tolerance_ = tolerance; }
  // States that only ever return to themselves with reward zero become terminal.
  void absorbing_as_terminal() { scattered_ = absorbing_as_terminal_ = true; }

  // Deterministic if every action has one successor. The builder is empty afterwards.
  Model build();

 private:
  struct Entry {
    State state, next;
    Action action;
    uint32_t line;
    double probability, reward;
  };
  // A state whose transitions are complete: rows up to `row_end` of row_action_ and row_size_.
  struct Given {
    State state;
    uint32_t row_end;
    uint32_t line;
  };
  struct EndReward {
    State state;
    double reward;
    int64_t line;
  };
  std::string place(State s, Action a) const;
  std::string name_of(State s) const;
  bool is_complete(std::span<const Entry> entries) const;
  void close(std::span<Entry> entries);
  void scatter();
  void gather();
  void drop_absorbing();
  int64_t line_of(State s) const;
  std::vector<Terminal> terminals() const;
  Model deterministic_model();
  Model stochastic_model();

  State states_ = 0;
  Action actions_ = 0;
  double discount_ = 1.0;
  double sum_tolerance_ = 1e-5;
  bool absorbing_as_terminal_ = false;
  std::vector<Entry> entries_;  // of the state being given, or all of them if scattered
  bool scattered_ = false;      // states do not come one after the other
  std::vector<bool> closed_;    // (states): is among given_
  std::vector<Given> given_;
  CompactList<Action> row_action_;
  CompactList<uint32_t> row_size_;
  std::vector<State> next_;  // (transitions), like the two below
  CompactList<double> probability_, reward_;
  std::vector<EndReward> end_rewards_;
  std::vector<Start> start_;
  std::function<std::string(State)> call_;
  std::unordered_map<std::string, State> state_index_;
  std::unordered_map<std::string, Action> action_index_;
  std::vector<std::string> state_names_, action_names_;
};

}  // namespace agora::planning

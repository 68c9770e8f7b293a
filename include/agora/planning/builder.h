#pragma once
#include <agora/error.h>
#include <agora/planning/model.h>

#include <cstdint>
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

// Collects transitions in any order and checks them. Equal transitions given twice add up their
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
  void sum_tolerance(double tolerance) { sum_tolerance_ = tolerance; }
  // States that only ever return to themselves with reward zero become terminal.
  void absorbing_as_terminal(bool yes = true) { absorbing_as_terminal_ = yes; }

  // Deterministic if every action has one successor. The builder is empty afterwards.
  Model build();

 private:
  struct Entry {
    State state, next;
    Action action;
    uint32_t line;
    double probability, reward;
  };
  struct EndReward {
    State state;
    double reward;
    int64_t line;
  };
  std::string place(State s, Action a) const;
  std::string name_of(State s) const;
  void sort_entries();
  void merge_equal_entries();
  void check_sums();
  void drop_absorbing();
  std::vector<Terminal> terminals() const;
  Model deterministic_model();
  Model stochastic_model();

  State states_ = 0;
  Action actions_ = 0;
  double discount_ = 1.0;
  double sum_tolerance_ = 1e-5;
  bool absorbing_as_terminal_ = false;
  std::vector<Entry> entries_;
  std::vector<EndReward> end_rewards_;
  std::vector<Start> start_;
  std::unordered_map<std::string, State> state_index_;
  std::unordered_map<std::string, Action> action_index_;
  std::vector<std::string> state_names_, action_names_;
};

}  // namespace agora::planning

#include "planning/z/limit_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "planning/model/backward.h"
#include "planning/model/parts.h"
#include "planning/z/best_paths.h"

namespace agora::planning {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Where steps gain: values rise until none is left to raise.
class Search {
 public:
  Search(const Model& model, std::vector<double>& value)
      : model_(model), backward_(model), value_(value), through_(states(), kNone) {
    value.assign(states(), -INFINITY);
    for (const auto& [s, reward] : model.terminals()) value[index(s)] = reward;
  }

  // States are looked at again until no value rises. Returns the steps taken.
  std::vector<State> correct_labels() {
    std::vector<State> queue, next_queue;
    std::vector<char> waits(states(), 0);
    for (const Terminal& end : model_.terminals()) queue.push_back(end.state);
    for (size_t raised = 0; !queue.empty(); std::swap(queue, next_queue)) {
      throw_if_stopped();
      next_queue.clear();
      for (const State next : queue) {
        waits[index(next)] = 0;
        raise_before(next, [&](State s) {
          if (!waits[index(s)]) next_queue.push_back(s);
          waits[index(s)] = 1;
        });
      }
      raised += next_queue.size();
      if (raised <= states()) continue;
      raised = 0;
      refuse_gaining_loops();
    }
    refuse_gaining_stays();
    return std::move(through_);
  }

 private:
  size_t states() const { return static_cast<size_t>(model_.states()); }
  static size_t index(State s) { return static_cast<size_t>(s); }

  template <typename Raised>
  void raise_before(State next, Raised&& raised) {
    backward_.for_each(next, [&](State s) {
      for (Action a = 0; a < model_.actions(); ++a) {
        if (!model_.has(s, a)) continue;
        const auto t = model_.transition(s, a, 0);
        if (t.next != next) continue;
        const double offer = t.reward + value_[index(next)];
        if (!(offer > value_[index(s)])) continue;
        value_[index(s)] = offer;
        through_[index(s)] = next;
        raised(s);
      }
    });
  }

  // A loop among the steps that values were taken over by last gains.
  void refuse_gaining_loops() const {
    std::vector<State> seen_from(states(), kNone);
    for (State s = 0; s < model_.states(); ++s) {
      State at = s;
      while (at != kNone && seen_from[index(at)] == kNone) {
        seen_from[index(at)] = s;
        at = through_[index(at)];
      }
      if (at != kNone && seen_from[index(at)] == s) refuse(at);
    }
  }

  void refuse_gaining_stays() const {
    for (State s = 0; s < model_.states(); ++s) {
      for (Action a = 0; a < model_.actions(); ++a) {
        if (value_[index(s)] == -INFINITY || !model_.has(s, a)) continue;
        const auto t = model_.transition(s, a, 0);
        if (t.next == s && t.reward > 0.0) refuse(s);
      }
    }
  }

  [[noreturn]] void refuse(State s) const {
    throw user_error(
        "the loop through state '{}' gains reward for ever: there is no best path to an end",
        model_.state_name(s));
  }

  const Model& model_;
  Backward backward_;
  std::vector<double>& value_;
  std::vector<State> through_;  // (states) the next state on the best path found
};

// What rounding may have done to each value, along one best path: `through` is its next state.
std::vector<double> rounding_along(const Model& model, const std::vector<double>& value,
                                   const std::vector<State>& through) {
  std::vector<double> rounding(value.size(), 0.0);
  std::vector<char> done(value.size(), 0);
  std::vector<State> chain;
  for (State s = 0; s < model.states(); ++s) {
    for (State at = s; at != kNone && !done[static_cast<size_t>(at)];
         at = through[static_cast<size_t>(at)]) {
      chain.push_back(at);
      done[static_cast<size_t>(at)] = 1;
    }
    for (; !chain.empty(); chain.pop_back()) {
      const size_t at = static_cast<size_t>(chain.back());
      if (through[at] == kNone) continue;
      const size_t next = static_cast<size_t>(through[at]);
      rounding[at] =
          rounding[next] + kEpsilon * (std::abs(value[at]) + std::abs(value[at] - value[next]));
    }
  }
  return rounding;
}

// States so that best steps lead to earlier ones; empty if there is no such order.
std::vector<State> order_of(const Model& model, const LimitPaths& paths) {
  const Backward backward(model);
  std::vector<int32_t> open(static_cast<size_t>(model.states()), 0);  // best steps not yet placed
  std::vector<State> order;
  size_t live = 0;
  for (State s = 0; s < model.states(); ++s) {
    if (paths.value[static_cast<size_t>(s)] == -INFINITY) continue;
    ++live;
    for (Action a = 0; a < model.actions(); ++a) {
      open[static_cast<size_t>(s)] += model.has(s, a) && paths.is_best(model, s, a);
    }
    if (open[static_cast<size_t>(s)] == 0) order.push_back(s);
  }
  std::vector<State> seen_from(static_cast<size_t>(model.states()), kNone);
  for (size_t head = 0; head < order.size(); ++head) {
    const State next = order[head];
    backward.for_each(next, [&](State s) {
      if (seen_from[static_cast<size_t>(s)] == next) return;
      seen_from[static_cast<size_t>(s)] = next;
      for (Action a = 0; a < model.actions(); ++a) {
        if (!model.has(s, a) || model.transition(s, a, 0).next != next) continue;
        if (!paths.is_best(model, s, a)) continue;
        if (--open[static_cast<size_t>(s)] == 0) order.push_back(s);
      }
    });
  }
  if (order.size() < live) order.clear();
  return order;
}

}  // namespace

bool LimitPaths::is_best(const Model& model, State s, Action a) const {
  const auto t = model.transition(s, a, 0);
  const size_t from = static_cast<size_t>(s), to = static_cast<size_t>(t.next);
  if (value[to] == -INFINITY) return false;
  if (!rank.empty() && rank[to] >= rank[from]) return false;
  const double offer = t.reward + value[to];
  const double slack =
      rounding[from] + rounding[to] + kEpsilon * (std::abs(offer) + std::abs(t.reward));
  return offer >= value[from] - slack;
}

LimitPaths limit_paths(const Model& model) {
  CHECK(model.is_deterministic(), "best paths of a stochastic model");
  LimitPaths paths;
  std::vector<State> through;
  if (has_best_paths(model)) {
    BestPaths best = best_paths(model);
    through.assign(best.value.size(), kNone);
    for (State s = 0; s < model.states(); ++s) {
      const Action a = best.action[static_cast<size_t>(s)];
      if (a != kNone) through[static_cast<size_t>(s)] = model.transition(s, a, 0).next;
    }
    if (model.rewards().max() < 0.0) {
      paths.rank.assign(best.value.size(), -1);
      for (size_t k = 0; k < best.order.size(); ++k) {
        paths.rank[static_cast<size_t>(best.order[k])] = static_cast<int32_t>(k);
      }
    }
    paths.value = std::move(best.value);
  } else {
    through = Search(model, paths.value).correct_labels();
  }
  paths.rounding = rounding_along(model, paths.value, through);
  paths.order = order_of(model, paths);
  return paths;
}

}  // namespace agora::planning

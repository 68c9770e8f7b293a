#include "planning/limit_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/error.h"
#include "planning/backward.h"
#include "planning/parts.h"

namespace agora::planning {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

class Search {
 public:
  Search(const Model& model, LimitPaths& paths)
      : model_(model), backward_(model), paths_(paths), through_(states(), kNone) {
    paths_.value.assign(states(), -INFINITY);
    paths_.rounding.assign(states(), 0.0);
    for (const auto& [s, reward] : model.terminals()) paths_.value[index(s)] = reward;
  }

  // Dijkstra's algorithm: where no step gains, the largest value that waits is final.
  void settle_in_order() {
    std::priority_queue<std::pair<double, State>> queue;
    for (const Terminal& end : model_.terminals()) queue.emplace(end.reward, -end.state);
    std::vector<char> settled(states(), 0);
    std::vector<int32_t> rank(states(), -1);
    int32_t count = 0;
    Watch watch;
    while (!queue.empty()) {
      watch();
      const State next = -queue.top().second;
      queue.pop();
      if (settled[index(next)]) continue;
      settled[index(next)] = 1;
      rank[index(next)] = count++;
      raise_before(next, [&](State s) {
        if (!settled[index(s)]) queue.emplace(paths_.value[index(s)], -s);
      });
    }
    if (model_.rewards().max() < 0.0) paths_.rank = std::move(rank);
  }

  // States are looked at again until no value rises.
  void correct_labels() {
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
    bound_rounding();
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
        const double offer = t.reward + paths_.value[index(next)];
        if (!(offer > paths_.value[index(s)])) continue;
        paths_.value[index(s)] = offer;
        paths_.rounding[index(s)] = rounding_of(offer, t.reward, next);
        through_[index(s)] = next;
        raised(s);
      }
    });
  }

  double rounding_of(double value, double reward, State next) const {
    return paths_.rounding[index(next)] + kEpsilon * (std::abs(value) + std::abs(reward));
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
        if (paths_.value[index(s)] == -INFINITY || !model_.has(s, a)) continue;
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

  // Again along the steps that were kept, since labels may have moved after they were used.
  void bound_rounding() {
    std::vector<State> chain;
    std::vector<char> done(states(), 0);
    for (const Terminal& end : model_.terminals()) done[index(end.state)] = 1;
    for (State s = 0; s < model_.states(); ++s) {
      chain.clear();
      for (State at = s; at != kNone && !done[index(at)]; at = through_[index(at)]) {
        chain.push_back(at);
      }
      for (; !chain.empty(); chain.pop_back()) {
        const State at = chain.back(), next = through_[index(at)];
        done[index(at)] = 1;
        if (next == kNone) continue;
        const double value = paths_.value[index(at)];
        paths_.rounding[index(at)] = rounding_of(value, value - paths_.value[index(next)], next);
      }
    }
  }

  const Model& model_;
  Backward backward_;
  LimitPaths& paths_;
  std::vector<State> through_;  // (states) the next state on the best path found
};

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
  Search search(model, paths);
  if (model.rewards().max() <= 0.0) {
    search.settle_in_order();
  } else {
    search.correct_labels();
  }
  paths.order = order_of(model, paths);
  return paths;
}

}  // namespace agora::planning

#pragma once
#include <agora/planning/model.h>

#include <cmath>
#include <functional>
#include <vector>

namespace agora::planning {

// States that can reach a terminal one, in an order in which a partition function is built up.
struct PathOrder {
  std::vector<State> state;       // (live) position -> state; terminal states first
  std::vector<int32_t> position;  // (states) state -> position, -1 if no end is in reach
  std::vector<double> log_sum;    // (live) by position: log of the sum over paths along the order
  int32_t ends = 0;               // the first positions are terminal states
  bool diverges = false;          // a loop weighs more than one; log_sum is not to be used then
};

// The logarithm of a step's factor as a sum of two doubles, so that beta R + mu loses nothing
// beside a log Z of its size.
struct LogWeight {
  double high = 0.0, low = 0.0;
  LogWeight() = default;
  LogWeight(double log_weight) : high(log_weight) {}  // NOLINT: a number is a weight
  LogWeight(double beta, double reward, double rest) {
    const double product = beta * reward;
    high = product + rest;
    const double added = high - product;
    low = std::fma(beta, reward, -product) + ((product - (high - added)) + (rest - added));
  }

  double sum() const { return high + low; }
  // log(w Z(t) / Z(s)), right to the last digits of the result where `to` and `from` nearly cancel
  // the weight.
  double between(double from, double to) const {
    const double difference = to - from;
    const double virtual_from = to - difference, virtual_to = difference + virtual_from;
    const double rounded_off = (to - virtual_to) + (virtual_from - from);
    return (high + difference) + (low + rounded_off);
  }
};

// The factors of the transitions of a sum over paths, in logarithms.
struct LogWeights {
  LogWeight uniform;                                            // if `transition` is empty
  std::function<LogWeight(State, Action, int64_t)> transition;  // -infinity: no such path
  std::vector<double> end;                                      // (terminal states)
  LogWeight at(State s, Action a, int64_t i) const {
    return transition ? transition(s, a, i) : uniform;
  }
  double operator()(State s, Action a, int64_t i) const { return at(s, a, i).sum(); }
};

// Terminal states, then always the state with the largest sum over paths through the states
// before it: Dijkstra's algorithm with a sum in place of the best path. With sums in this order
// a state gets most of its own from earlier ones, which the length of the best path alone does
// not give: a state with one short way may border on one with many longer ways. Where steps gain,
// sums that later states outweigh by far are raised to these, so that no quotient of neighbours
// leaves the range of doubles.
PathOrder path_order(const Model& model, const LogWeights& weights);

// Breadth-first from the terminal states; log_sum is empty.
PathOrder hop_order(const Model& model);

// For every state from which some policy ends with probability one, an action of such a policy;
// kNone for the others and for terminal states.
std::vector<Action> surely_ending(const Model& model);

}  // namespace agora::planning

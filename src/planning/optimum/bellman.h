#pragma once
#include <agora/planning/model.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <vector>

#include "planning/model/parts.h"

namespace agora::planning {

// What a solver of Bellman's equations needs of a model: the value of an action from the values of
// its successors, -infinity if the state has no such action.
template <typename M>
concept ActionValues = requires(const M& m, State s, Action a, const double* v) {
  { m.states() } -> std::same_as<State>;
  { m.actions() } -> std::same_as<Action>;
  { m.q(s, a, v) } -> std::same_as<double>;
};

// Deterministic models; `Reward` is a constant or looked up.
struct ConstantReward {
  double value;
  double operator()(int64_t) const { return value; }
};
struct LookedUpReward {
  const Rewards& rewards;
  double operator()(int64_t row) const { return rewards[row]; }
};

template <typename Reward>
struct SuccessorRows {
  const Model& model;
  const State* next;
  Reward reward;
  double discount;
  State states() const { return model.states(); }
  Action actions() const { return model.actions(); }
  double q(State s, Action a, const double* v) const {
    const int64_t row = model.row(s, a);
    const State to = next[row];
    return to == kNone ? -INFINITY : reward(row) + discount * v[to];
  }
  // The best value of a state with four actions and a constant reward: no branch but one.
  double best_of_four(State s, const double* v) const {
    const State* to = next + int64_t{s} * 4;
    if ((to[0] | to[1] | to[2] | to[3]) >= 0) {
      return reward(0) +
             discount * std::max(std::max(v[to[0]], v[to[1]]), std::max(v[to[2]], v[to[3]]));
    }
    double best = -INFINITY;
    for (int a = 0; a < 4; ++a) best = std::max(best, q(s, a, v));
    return best;
  }
};

// Stochastic models; rewards are averaged over the successors once.
struct SparseRows {
  const Model& model;
  const uint32_t* row_begin;
  const State* next;
  const double* probability;
  std::vector<double> reward;  // (states * actions)
  double discount;

  SparseRows(const Model& m, double discount_in);
  State states() const { return model.states(); }
  Action actions() const { return model.actions(); }
  double q(State s, Action a, const double* v) const {
    const int64_t row = model.row(s, a);
    const uint32_t begin = row_begin[row], end = row_begin[row + 1];
    if (begin == end) return -INFINITY;
    double sum = 0.0;
    if (end - begin == 4) {  // so short that the loop would cost more than the work
      const double* p = probability + begin;
      const State* to = next + begin;
      sum = (p[0] * v[to[0]] + p[1] * v[to[1]]) + (p[2] * v[to[2]] + p[3] * v[to[3]]);
    } else {
      for (uint32_t t = begin; t < end; ++t) sum += probability[t] * v[next[t]];
    }
    return reward[static_cast<size_t>(row)] + discount * sum;
  }
};

// Calls body(rows) with the view that fits the model.
template <typename Body>
auto with_rows(const Model& model, double discount, Body&& body) {
  if (!model.is_deterministic()) return body(SparseRows(model, discount));
  const State* next = model.successors().data();
  if (model.rewards().constant()) {
    return body(SuccessorRows<ConstantReward>{model, next, {model.rewards()[0]}, discount});
  }
  return body(SuccessorRows<LookedUpReward>{model, next, {model.rewards()}, discount});
}

struct BestAction {
  double value = -INFINITY;
  Action action = kNone;
};

template <ActionValues Rows>
BestAction best_action(const Rows& rows, State s, const double* v) {
  BestAction best;
  for (Action a = 0; a < rows.actions(); ++a) {
    const double q = rows.q(s, a, v);
    if (q > best.value) best = {q, a};
  }
  return best;
}

template <ActionValues Rows>
double best_value(const Rows& rows, State s, const double* v) {
  if constexpr (std::same_as<Rows, SuccessorRows<ConstantReward>>) {
    if (rows.actions() == 4) return rows.best_of_four(s, v);
  }
  double best = -INFINITY;
  for (Action a = 0; a < rows.actions(); ++a) best = std::max(best, rows.q(s, a, v));
  return best;
}

// All states from the values of the sweep before; terminal states and those from which nothing
// ends keep theirs. Returns the largest change.
template <ActionValues Rows>
double optimality_sweep(const Rows& rows, const double* value, double* next) {
  return max_over_parts(rows.states(), [&](int64_t from, int64_t until) {
    double most = 0.0;
    for (int64_t s = from; s < until; ++s) {
      const double best = best_value(rows, static_cast<State>(s), value);
      if (best == -INFINITY) {
        next[s] = value[s];
        continue;
      }
      const double off = std::abs(best - value[s]);
      most = larger(most, off);
      next[s] = best;
    }
    return most;
  });
}

}  // namespace agora::planning

#pragma once
#include <agora/planning/model.h>

#include <cmath>
#include <concepts>
#include <vector>

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
    for (uint32_t t = begin; t < end; ++t) sum += probability[t] * v[next[t]];
    return reward[static_cast<size_t>(row)] + discount * sum;
  }
};

// Calls body(rows) with the view that fits the model.
template <typename Body>
auto with_rows(const Model& model, double discount, Body&& body) {
  if (!model.is_deterministic()) return body(SparseRows(model, discount));
  if (model.rewards().constant()) {
    const auto reward = [r = model.rewards()[0]](int64_t) { return r; };
    return body(
        SuccessorRows<decltype(reward)>{model, model.successors().data(), reward, discount});
  }
  const auto reward = [&rewards = model.rewards()](int64_t row) { return rewards[row]; };
  return body(SuccessorRows<decltype(reward)>{model, model.successors().data(), reward, discount});
}

struct Best {
  double value = -INFINITY;
  Action action = kNone;
};

template <ActionValues Rows>
Best best_action(const Rows& rows, State s, const double* v) {
  Best best;
  for (Action a = 0; a < rows.actions(); ++a) {
    const double q = rows.q(s, a, v);
    if (q > best.value) best = {q, a};
  }
  return best;
}

}  // namespace agora::planning

#pragma once
#include <agora/planning.h>
#include <quadmath.h>

#include <cmath>
#include <optional>
#include <vector>

namespace agora::planning {

// log Z and V = d log Z / d beta of a deterministic model by elimination of one state after the
// other, in logarithms of 113 bits: numbers have no range to leave, and nothing is subtracted but a
// loop from one. Shares no code and no method with the solvers; cubic in the states.
struct PathSums {
  std::vector<double> log_z, value;  // (states), -infinity: no end in reach
};

namespace path_sums {

__extension__ using Real = __float128;

struct Number {  // exp(log), and the derivative of log by beta
  bool zero = true;
  Real log = 0, slope = 0;
};

inline Number operator*(const Number& a, const Number& b) {
  if (a.zero || b.zero) return {};
  return {false, a.log + b.log, a.slope + b.slope};
}

inline Number operator+(const Number& a, const Number& b) {
  if (b.zero) return a;
  if (a.zero || a.log < b.log) return b + a;
  const Real w = expq(b.log - a.log);
  return {false, a.log + log1pq(w), (a.slope + w * b.slope) / (1 + w)};
}

// 1 / (1 - a): all rounds of a loop.
inline std::optional<Number> rounds(const Number& a) {
  if (a.zero) return Number{false, 0, 0};
  if (!(a.log < 0)) return std::nullopt;
  return Number{false, -logq(-expm1q(a.log)), a.slope / expm1q(-a.log)};
}

}  // namespace path_sums

// Nothing where a sum over paths diverges.
inline std::optional<PathSums> sum_over_paths(const Model& model, double beta, double mu) {
  using path_sums::Number;
  const size_t n = static_cast<size_t>(model.states());
  std::vector<char> live(n, 0);
  for (const Terminal& end : model.terminals()) live[static_cast<size_t>(end.state)] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (State s = 0; s < model.states(); ++s) {
      for (Action a = 0; a < model.actions() && !live[static_cast<size_t>(s)]; ++a) {
        if (!model.has(s, a) || !live[static_cast<size_t>(model.transition(s, a, 0).next)])
          continue;
        live[static_cast<size_t>(s)] = 1;
        changed = true;
      }
    }
  }
  std::vector<std::vector<Number>> w(n, std::vector<Number>(n));
  std::vector<Number> z(n);  // what ends next, then Z
  for (State s = 0; s < model.states(); ++s) {
    if (!live[static_cast<size_t>(s)]) continue;
    if (model.terminal(s)) {
      const path_sums::Real reward = model.terminal_reward(s);
      z[static_cast<size_t>(s)] = {false, beta * reward, reward};
      continue;
    }
    for (Action a = 0; a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      const auto t = model.transition(s, a, 0);
      if (!live[static_cast<size_t>(t.next)]) continue;
      const Number step{false, path_sums::Real{beta} * t.reward + mu, t.reward};
      Number& entry = w[static_cast<size_t>(s)][static_cast<size_t>(t.next)];
      entry = entry + step;
    }
  }
  for (size_t k = 0; k < n; ++k) {
    const auto loop = path_sums::rounds(w[k][k]);
    if (!loop) return std::nullopt;
    for (size_t j = k + 1; j < n; ++j) w[k][j] = *loop * w[k][j];
    if (!model.terminal(static_cast<State>(k))) z[k] = *loop * z[k];
    for (size_t i = k + 1; i < n; ++i) {
      if (w[i][k].zero) continue;
      for (size_t j = k + 1; j < n; ++j) {
        if (!w[k][j].zero) w[i][j] = w[i][j] + w[i][k] * w[k][j];
      }
      z[i] = z[i] + w[i][k] * z[k];
    }
  }
  PathSums sums{std::vector<double>(n, -INFINITY), std::vector<double>(n, -INFINITY)};
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) z[k] = z[k] + w[k][j] * z[j];
    if (!live[k]) continue;
    sums.log_z[k] = static_cast<double>(z[k].log);
    sums.value[k] = static_cast<double>(z[k].slope);
  }
  return sums;
}

}  // namespace agora::planning

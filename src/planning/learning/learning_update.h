#pragma once
#include <cmath>
#include <cstddef>
#include <span>

namespace agora::planning {

// The updates of tabular learning, for any scalar (a test differentiates them by beta).
// Actions that do not exist have minus infinity in their row.

template <typename T>
T log_sum_exp(std::span<const T> row) {
  using std::exp;
  using std::log;
  T most = row[0];
  for (const T& x : row) {
    if (x > most) most = x;
  }
  T sum = 0.0;
  for (const T& x : row) sum += exp(x - most);
  return most + log(sum);
}

// eq. updateRule in logarithms: beta r + mu + log sum_a' Z(s', a').
template <typename T>
T z_target(T beta, double mu, double reward, std::span<const T> next) {
  return beta * reward + mu + log_sum_exp(next);
}

// r + gamma sum_a' pi(a'|s') Q(s', a').
template <typename T>
T expected_sarsa_target(double reward, double discount, std::span<const double> policy,
                        std::span<const T> next) {
  T mean = 0.0;
  for (size_t a = 0; a < next.size(); ++a) {
    if (policy[a] > 0) mean += policy[a] * next[a];
  }
  return reward + discount * mean;
}

// Linear in Q, geometric in Z: log Z <- (1 - alpha) log Z + alpha target.
template <typename T>
void move_towards(T& entry, double alpha, const T& target) {
  entry = (1 - alpha) * entry + alpha * target;
}

}  // namespace agora::planning

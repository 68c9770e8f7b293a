#include "planning/divergence.h"

#include <algorithm>
#include <cmath>

#include "planning/parts.h"

namespace agora::planning {
namespace {

constexpr double kRounding = 1e-12;  // sums here are not off by more, in relative terms

}  // namespace

DivergenceProof::DivergenceProof(const Model& model, const LogWeights& weights,
                                 const std::vector<int32_t>& position, int32_t ends)
    : model_(model), weights_(weights), from_all_(position.size()), from_ends_(position.size()) {
  Vector is_end(position.size());
  for (size_t s = 0; s < position.size(); ++s) {
    is_end[s] = position[s] >= 0 && position[s] < ends ? 1.0 : 0.0;
    from_all_[s] = position[s] >= ends ? 1.0 : 0.0;
  }
  for (size_t s = 0; s < position.size(); ++s) {
    if (from_all_[s] > 0.0) from_ends_[s] = through(static_cast<State>(s), is_end);
  }
  symmetric_ = is_symmetric();
}

// Whether as many actions lead back as lead there, all with one weight; false if it is not known.
bool DivergenceProof::is_symmetric() const {
  if (!model_.is_deterministic() || weights_.transition) return false;
  const size_t d = static_cast<size_t>(model_.actions());
  const auto row = [&](State s) { return model_.successors().data() + static_cast<size_t>(s) * d; };
  return max_over_parts(model_.states(), [&](int64_t from, int64_t until) {
           for (State s = static_cast<State>(from); s < static_cast<State>(until); ++s) {
             if (from_all_[static_cast<size_t>(s)] == 0.0) continue;
             for (size_t a = 0; a < d; ++a) {
               const State t = row(s)[a];
               if (t == kNone || t == s || from_all_[static_cast<size_t>(t)] == 0.0) continue;
               if (std::count(row(s), row(s) + d, t) != std::count(row(t), row(t) + d, s)) {
                 return 1.0;
               }
             }
           }
           return 0.0;
         }) == 0.0;
}

bool DivergenceProof::holds_on_average(const Vector& x) const {
  const auto sum = [&](auto&& term) {
    return sum_over_parts(model_.states(), [&](int64_t from, int64_t until) {
      double part = 0.0;
      for (State s = static_cast<State>(from); s < static_cast<State>(until); ++s) {
        const double own = x[static_cast<size_t>(s)];
        if (own > 0.0) part += own * term(s, own);
      }
      return part;
    });
  };
  return sum([&](State s, double) { return through(s, x); }) >=
         sum([](State, double own) { return own; }) * (1.0 + kRounding);
}

// (W x)(s)
double DivergenceProof::through(State s, const Vector& x) const {
  const double uniform = weights_.transition ? 0.0 : std::exp(weights_.uniform);
  double sum = 0.0;
  for (Action a = 0; a < model_.actions(); ++a) {
    for (int64_t i = 0, n = model_.transition_count(s, a); i < n; ++i) {
      const double value = x[static_cast<size_t>(model_.transition(s, a, i).next)];
      if (value == 0.0) continue;
      sum += value * (weights_.transition ? std::exp(weights_(s, a, i)) : uniform);
    }
  }
  return sum;
}

bool DivergenceProof::search(int iterations) {
  return proves(from_all_) || iterate(from_all_, iterations) || iterate(from_ends_, iterations);
}

// x = (x + W x) / 2: the half that stays keeps models whose paths all have even or odd lengths
// from alternating.
bool DivergenceProof::iterate(Vector& x, int iterations) const {
  Vector next(x.size());
  for (int k = 1; k <= iterations; ++k) {
    const double most = max_over_parts(model_.states(), [&](int64_t from, int64_t until) {
      double largest = 0.0;
      for (size_t s = static_cast<size_t>(from); s < static_cast<size_t>(until); ++s) {
        const bool is_end = from_all_[s] == 0.0;
        next[s] = is_end ? 0.0 : 0.5 * (x[s] + through(static_cast<State>(s), x));
        largest = std::max(largest, next[s]);
      }
      return largest;
    });
    if (!(most > 0.0) || std::isinf(most)) return false;  // weights beyond doubles prove nothing
    in_parts(model_.states(), [&](int64_t from, int64_t until) {
      for (size_t s = static_cast<size_t>(from); s < static_cast<size_t>(until); ++s) {
        x[s] = next[s] / most;
      }
    });
    if (k % 32 == 0 && proves(x)) return true;
  }
  return false;
}

bool DivergenceProof::proves(const Vector& x) const {
  return (symmetric_ && holds_on_average(x)) || holds_somewhere(x);
}

// States where W x < x are taken out of x until none is left to take, or none is left.
bool DivergenceProof::holds_somewhere(const Vector& x) const {
  constexpr int kPasses = 16;
  Vector kept = x, before;
  for (int pass = 0; pass < kPasses; ++pass) {
    before = kept;
    const double taken = sum_over_parts(model_.states(), [&](int64_t from, int64_t until) {
      double count = 0.0;
      for (size_t s = static_cast<size_t>(from); s < static_cast<size_t>(until); ++s) {
        if (before[s] == 0.0) continue;
        if (through(static_cast<State>(s), before) >= before[s] * (1.0 + kRounding)) continue;
        kept[s] = 0.0;
        count += 1.0;
      }
      return count;
    });
    if (taken > 0.0) continue;
    return std::any_of(kept.begin(), kept.end(), [](double left) { return left > 0.0; });
  }
  return false;
}

}  // namespace agora::planning

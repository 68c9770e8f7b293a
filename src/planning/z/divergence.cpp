#include "planning/z/divergence.h"

#include <algorithm>
#include <cmath>

#include "planning/model/parts.h"

namespace agora::planning {
namespace {

constexpr double kRounding = 1e-12;  // sums here are not off by more, in relative terms

}  // namespace

DivergenceProof::DivergenceProof(const Model& model, double uniform, const PathSystem& system)
    : model_(model),
      system_(system),
      same_weights_(!std::isnan(uniform)),
      weight_(same_weights_ ? std::exp(uniform) : 0.0) {
  const size_t n = static_cast<size_t>(system.size()), ends = static_cast<size_t>(system.ends());
  Vector is_end(n, 0.0), from_all(n, 0.0), from_ends(n, 0.0);
  std::fill(is_end.begin(), is_end.begin() + system.ends(), 1.0);
  std::fill(from_all.begin() + system.ends(), from_all.end(), 1.0);
  for (size_t p = ends; p < n; ++p) from_ends[p] = through(p, is_end);
  starts_ = {std::move(from_all), std::move(from_ends)};  // loops wherever they are; short paths
  if (!same_weights_) {
    // One everywhere before phi was folded in.
    const double least = *std::min_element(system.phi().begin(), system.phi().end());
    Vector unfolded(n, 0.0);
    for (size_t p = ends; p < n; ++p) unfolded[p] = std::exp(least - system.phi()[p]);
    starts_.push_back(std::move(unfolded));
  }
  symmetric_ = is_symmetric();
}

// Whether as many actions lead back as lead there, all with one weight; false if it is not known.
bool DivergenceProof::is_symmetric() const {
  if (!model_.is_deterministic() || !same_weights_) return false;
  const size_t d = static_cast<size_t>(model_.actions());
  const auto row = [&](State s) { return model_.successors().data() + static_cast<size_t>(s) * d; };
  return max_over_parts(system_.size() - system_.ends(), [&](int64_t from, int64_t until) {
           for (int64_t p = from + system_.ends(); p < until + system_.ends(); ++p) {
             const State s = system_.state(static_cast<int32_t>(p));
             for (size_t a = 0; a < d; ++a) {
               const State t = row(s)[a];
               if (t == kNone || t == s || system_.position(t) < system_.ends()) continue;
               if (std::count(row(s), row(s) + d, t) != std::count(row(t), row(t) + d, s)) {
                 return 1.0;
               }
             }
           }
           return 0.0;
         }) == 0.0;
}

// (W x)(s)
double DivergenceProof::through(size_t p, const Vector& x) const {
  if (!same_weights_) {
    return system_.rows().visit([&](const auto rows) { return rows.sum(p, x.data()); });
  }
  const State s = system_.state(static_cast<int32_t>(p));
  double sum = 0.0;
  for (Action a = 0; a < model_.actions(); ++a) {
    for (int64_t i = 0, n = model_.transition_count(s, a); i < n; ++i) {
      const int32_t to = system_.position(model_.transition(s, a, i).next);
      if (to >= 0) sum += x[static_cast<size_t>(to)];
    }
  }
  return weight_ * sum;
}

bool DivergenceProof::search(int iterations) {
  if (proves(starts_[0])) return true;
  return std::any_of(starts_.begin(), starts_.end(),
                     [&](Vector& x) { return iterate(x, iterations); });
}

bool DivergenceProof::search_below(const Vector& z, int iterations) const {
  Vector x(z.size(), 0.0);
  const double top = *std::max_element(system_.phi().begin(), system_.phi().end());
  for (size_t p = static_cast<size_t>(system_.ends()); p < z.size(); ++p) {
    if (!(z[p] < 0.0) || std::isinf(z[p])) continue;
    x[p] = same_weights_ ? -z[p] * std::exp(system_.phi()[p] - top) : -z[p];
  }
  return proves(x) || iterate(x, iterations);
}

// x = (x + W x) / 2: the half that stays keeps models whose paths all have even or odd lengths
// from alternating.
bool DivergenceProof::iterate(Vector& x, int iterations) const {
  Vector next(x.size(), 0.0);
  const int64_t ends = system_.ends();
  for (int k = 1; k <= iterations; ++k) {
    const double most = max_over_parts(system_.size() - ends, [&](int64_t from, int64_t until) {
      double largest = 0.0;
      for (size_t p = static_cast<size_t>(from + ends); p < static_cast<size_t>(until + ends);
           ++p) {
        next[p] = 0.5 * (x[p] + through(p, x));
        largest = larger(largest, next[p]);
      }
      return largest;
    });
    if (!(most > 0.0) || std::isinf(most)) return false;  // weights beyond doubles prove nothing
    in_parts(system_.size(), [&](int64_t from, int64_t until) {
      for (size_t p = static_cast<size_t>(from); p < static_cast<size_t>(until); ++p) {
        x[p] = next[p] / most;
      }
    });
    if (k % 32 == 0 && proves(x)) return true;
  }
  return false;
}

bool DivergenceProof::proves(const Vector& x) const {
  return (symmetric_ && holds_on_average(x)) || holds_somewhere(x);
}

bool DivergenceProof::holds_on_average(const Vector& x) const {
  const int64_t ends = system_.ends();
  const auto sum = [&](auto&& term) {
    return sum_over_parts(system_.size() - ends, [&](int64_t from, int64_t until) {
      double part = 0.0;
      for (size_t p = static_cast<size_t>(from + ends); p < static_cast<size_t>(until + ends);
           ++p) {
        if (x[p] > 0.0) part += x[p] * term(p);
      }
      return part;
    });
  };
  const double own = sum([&](size_t p) { return x[p]; });
  return own > 0.0 && sum([&](size_t p) { return through(p, x); }) >= own * (1.0 + kRounding);
}

// States where W x < x are taken out of x until none is left to take, or none is left.
bool DivergenceProof::holds_somewhere(const Vector& x) const {
  constexpr int kPasses = 16;
  const int64_t ends = system_.ends();
  Vector kept = x, before;
  for (int pass = 0; pass < kPasses; ++pass) {
    before = kept;
    const double taken = sum_over_parts(system_.size() - ends, [&](int64_t from, int64_t until) {
      double count = 0.0;
      for (size_t p = static_cast<size_t>(from + ends); p < static_cast<size_t>(until + ends);
           ++p) {
        if (before[p] == 0.0) continue;
        const double lifted = through(p, before);
        if (lifted >= before[p] * (1.0 + kRounding) && std::isfinite(lifted)) continue;
        kept[p] = 0.0;
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

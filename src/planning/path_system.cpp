#include "planning/path_system.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "base/error.h"
#include "planning/parts.h"

namespace agora::planning {
namespace {

constexpr double kDrift = 1e100;  // z beyond this is folded into phi

struct Entry {
  int32_t to;
  double log_weight;
  int times;
};

// The entries of a state, sorted, equal ones counted; returns the weight of staying.
double gather(const Model& model, const LogWeights& weights, State s,
              const std::vector<int32_t>& position, std::vector<Entry>& row) {
  row.clear();
  double stay = 0.0;
  for (Action a = 0; a < model.actions(); ++a) {
    for (int64_t i = 0, count = model.transition_count(s, a); i < count; ++i) {
      const State next = model.transition(s, a, i).next;
      const int32_t to = position[static_cast<size_t>(next)];
      if (to < 0) continue;
      const double log_weight = weights(s, a, i);
      if (log_weight == -INFINITY) continue;
      if (next == s) {
        stay += std::exp(log_weight);
        continue;
      }
      row.push_back({to, log_weight, 1});
      for (size_t k = row.size() - 1; k > 0 && row[k].to < row[k - 1].to; --k) {
        std::swap(row[k], row[k - 1]);
      }
    }
  }
  size_t kept = 0;
  for (const Entry& entry : row) {
    if (kept > 0 && row[kept - 1].to == entry.to && row[kept - 1].log_weight == entry.log_weight) {
      ++row[kept - 1].times;
    } else {
      row[kept++] = entry;
    }
  }
  row.resize(kept);
  return stay;
}

}  // namespace

PathSystem::PathSystem(const Model& model, PathOrder order, const LogWeights& weights)
    : ends_(order.ends),
      state_(std::move(order.state)),
      position_(std::move(order.position)),
      phi_(std::move(order.log_sum)) {
  const size_t n = static_cast<size_t>(size());
  begin_.assign(n + 1, 0);
  in_parts(size() - ends_, [&](int64_t from, int64_t until) {
    std::vector<Entry> row;
    for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
         ++p) {
      gather(model, weights, state_[p], position_, row);
      begin_[p + 1] = static_cast<uint32_t>(row.size());
    }
  });
  for (size_t p = 0; p < n; ++p) begin_[p + 1] += begin_[p];
  to_.resize(begin_.back());
  weight_.resize(begin_.back());
  cap_.assign(n, 0.0f);
  split_.assign(n, 0);
  const double uniform = weights.transition ? 0.0 : std::exp(weights.uniform);
  std::atomic<bool> diverge{false};
  bandwidth_ =
      static_cast<int32_t>(max_over_parts(size() - ends_, [&](int64_t from, int64_t until) {
        std::vector<Entry> row;
        int32_t widest = 0;
        for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
             ++p) {
          const double leave = 1.0 - gather(model, weights, state_[p], position_, row);
          if (!(leave > 0.0)) diverge.store(true, std::memory_order_relaxed);
          uint32_t e = begin_[p];
          const int32_t here = static_cast<int32_t>(p);
          double cap = 0.0;
          split_[p] = e;
          for (const Entry& entry : row) {
            const double plain = weights.transition ? std::exp(entry.log_weight) : uniform;
            to_[e] = entry.to;
            weight_[e++] =
                entry.times / leave *
                std::exp(entry.log_weight + phi_[static_cast<size_t>(entry.to)] - phi_[p]);
            if (entry.to < here) {
              split_[p] = e;
            } else {
              cap += entry.times / leave * plain;
            }
            widest = std::max(widest, std::abs(here - entry.to));
          }
          cap_[p] = static_cast<float>(std::min(cap, 0.98));
        }
        return static_cast<double>(widest);
      }));
  loops_diverge_ = diverge;
}

// Only ever needed where one sweep moves z beyond the range of doubles: the ratio sweep from
// z = 1 in logarithms.
void PathSystem::log_sweep() {
  const size_t n = static_cast<size_t>(size());
  std::vector<double> change(n, 0.0);  // log z
  for (size_t p = static_cast<size_t>(ends_); p < n; ++p) {
    const uint32_t first = begin_[p], middle = split_[p], last = begin_[p + 1];
    double top = -INFINITY, sum = 0.0, later = 0.0;
    for (uint32_t e = first; e < middle; ++e) {
      top = std::max(top, change[static_cast<size_t>(to_[e])]);
    }
    for (uint32_t e = first; e < middle; ++e) {
      sum += weight_[e] * std::exp(change[static_cast<size_t>(to_[e])] - top);
    }
    for (uint32_t e = middle; e < last; ++e) later += weight_[e];
    const double moving = std::min(later, static_cast<double>(cap_[p])), fixed = later - moving;
    const double earlier = first < middle ? top + std::log(sum) : -INFINITY;
    const double high = std::max(earlier, 0.0);
    change[p] =
        high + std::log(std::exp(earlier - high) + fixed * std::exp(-high)) - std::log1p(-moving);
  }
  in_parts(size(), [&](int64_t from, int64_t until) {
    for (size_t p = static_cast<size_t>(from); p < static_cast<size_t>(until); ++p) {
      phi_[p] += change[p];
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) {
        weight_[e] *= std::exp(change[static_cast<size_t>(to_[e])] - change[p]);
      }
    }
  });
}

// kCycle sweeps follow each other through the positions in blocks, each as far behind the one
// before as the entries reach: the result is that of whole sweeps one after the other, blocks stay
// in the cache, and two threads can work on it.
template <typename Body>
void PathSystem::run_sweeps(bool forward, Body&& body) const {
  const int64_t first = ends_, n = size() - ends_;
  const int64_t block = std::max<int64_t>(bandwidth_ + 1, 2048);
  const int64_t blocks = (n + block - 1) / block;
  const auto run_block = [&](int64_t b) {
    if (!forward) b = blocks - 1 - b;
    body(static_cast<size_t>(first + b * block),
         static_cast<size_t>(first + std::min(n, (b + 1) * block)));
  };
  constexpr int kMembers = 2;  // sweeps that one thread interleaves
  constexpr int kTeams = kCycle / kMembers;
  std::array<std::atomic<int64_t>, kTeams> done{};  // blocks that a team's last sweep has finished
  default_pool().run(kTeams, [&](int64_t team) {
    for (int64_t front = 0; front < blocks + 2 * (kMembers - 1); ++front) {
      if (team > 0 && front < blocks) {
        const int64_t needed = std::min(blocks, front + 2);
        const auto& before = done[static_cast<size_t>(team - 1)];
        for (int spin = 0; before.load(std::memory_order_acquire) < needed; ++spin) {
          if (spin > 1000) std::this_thread::yield();
        }
      }
      for (int member = 0; member < kMembers; ++member) {
        const int64_t b = front - 2 * member;
        if (b >= 0 && b < blocks) run_block(b);
      }
      done[static_cast<size_t>(team)].store(front + 1 - 2 * (kMembers - 1),
                                            std::memory_order_release);
    }
  });
}

bool PathSystem::ratio_sweeps(std::vector<double>& z) const {
  std::atomic<bool> fine{true};
  double* const value = z.data();
  run_sweeps(true, [&](size_t from, size_t until) {
    bool good = true;
    for (size_t p = from; p < until; ++p) {
      const uint32_t first = begin_[p], middle = split_[p], last = begin_[p + 1];
      double earlier = 0.0, later = 0.0;
      for (uint32_t e = first; e < middle; ++e) earlier += weight_[e] * value[to_[e]];
      for (uint32_t e = middle; e < last; ++e) later += weight_[e] * value[to_[e]];
      const double own = value[p], moving = std::min(later, static_cast<double>(cap_[p]) * own);
      value[p] = (earlier + (later - moving)) * own / (own - moving);
      good &= value[p] < 1e200 && value[p] > 1e-200;
    }
    if (!good) fine.store(false, std::memory_order_relaxed);
  });
  return fine;
}

void PathSystem::z_cycle(std::vector<double>& z) {
  if (!ratio_sweeps(z)) {
    std::fill(z.begin(), z.end(), 1.0);
    log_sweep();
    return;
  }
  double* const value = z.data();
  std::atomic<bool> drifts{false};
  run_sweeps(false, [&](size_t from, size_t until) {
    double least = 1.0, most = 1.0;
    for (size_t p = until; p-- > from;) {
      double sum = 0.0;
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) sum += weight_[e] * value[to_[e]];
      value[p] = sum;
      least = std::min(least, sum);
      most = std::max(most, sum);
    }
    if (most > kDrift || least < 1.0 / kDrift) drifts.store(true, std::memory_order_relaxed);
  });
  if (drifts) fold(z);
}

void PathSystem::value_cycle(const std::vector<double>& r, std::vector<double>& v) const {
  double* const value = v.data();
  run_sweeps(true, [&](size_t from, size_t until) {
    for (size_t p = from; p < until; ++p) {
      const uint32_t first = begin_[p], middle = split_[p], last = begin_[p + 1];
      double sum = r[p], later = 0.0;
      const double own = value[p];
      for (uint32_t e = first; e < middle; ++e) sum += weight_[e] * value[to_[e]];
      for (uint32_t e = middle; e < last; ++e) {
        later += weight_[e];
        sum += weight_[e] * value[to_[e]];
      }
      const double moving = std::min(later, static_cast<double>(cap_[p]));
      value[p] = (sum - moving * own) / (1.0 - moving);
    }
  });
  run_sweeps(false, [&](size_t from, size_t until) {
    for (size_t p = until; p-- > from;) {
      double sum = r[p];
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) sum += weight_[e] * value[to_[e]];
      value[p] = sum;
    }
  });
}

double PathSystem::power_sweep(std::vector<double>& z, std::vector<double>& scratch) const {
  const double top = *std::max_element(phi_.begin(), phi_.end());
  scratch.resize(z.size());
  std::copy(z.begin(), z.begin() + ends_, scratch.begin());
  const double change = max_over_parts(size() - ends_, [&](int64_t from, int64_t until) {
    double most = 0.0;
    for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
         ++p) {
      double sum = 0.0;
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) {
        sum += weight_[e] * z[static_cast<size_t>(to_[e])];
      }
      scratch[p] = sum;
      most = std::max(most, std::abs(sum - z[p]) * std::exp(phi_[p] - top));
    }
    return most;
  });
  std::swap(z, scratch);
  return change;
}

double PathSystem::residual(const std::vector<double>& z) const {
  return max_over_parts(size() - ends_, [&](int64_t from, int64_t until) {
    double most = 0.0;
    for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
         ++p) {
      double sum = 0.0;
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) {
        sum += weight_[e] * z[static_cast<size_t>(to_[e])];
      }
      const double off = std::abs(z[p] - sum) / z[p];
      most = off <= most ? most : off;  // keeps a NaN
    }
    return most;
  });
}

double PathSystem::value_residual(const std::vector<double>& r,
                                  const std::vector<double>& v) const {
  return max_over_parts(size() - ends_, [&](int64_t from, int64_t until) {
    double most = 0.0;
    for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
         ++p) {
      double sum = r[p] - v[p];
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) {
        sum += weight_[e] * v[static_cast<size_t>(to_[e])];
      }
      const double off = std::abs(sum);
      most = off <= most ? most : off;
    }
    return most;
  });
}

void PathSystem::apply(const std::vector<double>& v, std::vector<double>& out) const {
  in_parts(size(), [&](int64_t from, int64_t until) {
    for (size_t p = static_cast<size_t>(from); p < static_cast<size_t>(until); ++p) {
      double sum = static_cast<int32_t>(p) < ends_ ? 0.0 : v[p];
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) {
        sum -= weight_[e] * v[static_cast<size_t>(to_[e])];
      }
      out[p] = sum;
    }
  });
}

void PathSystem::fold(std::vector<double>& z) {
  in_parts(size(), [&](int64_t from, int64_t until) {
    for (size_t p = static_cast<size_t>(from); p < static_cast<size_t>(until); ++p) {
      phi_[p] += std::log(z[p]);
      const double inverse = 1.0 / z[p];
      for (uint32_t e = begin_[p]; e < begin_[p + 1]; ++e) {
        weight_[e] *= z[static_cast<size_t>(to_[e])] * inverse;
      }
    }
  });
  std::fill(z.begin(), z.end(), 1.0);
}

}  // namespace agora::planning

#include "planning/z/path_system.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/huge_pages.h"
#include "planning/model/parts.h"

namespace agora::planning {
namespace {

constexpr double kDrift = 1e100;  // z beyond this is folded into phi
constexpr double kLost = 1e-290;  // weights below this have lost digits, or all

struct Entry {
  int32_t to;
  LogWeight log_weight;
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
      const LogWeight log_weight = weights.at(s, a, i);
      if (log_weight.high == -INFINITY) continue;
      if (next == s) {
        stay += std::exp(log_weight.sum());
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
    if (kept > 0 && row[kept - 1].to == entry.to &&
        row[kept - 1].log_weight.sum() == entry.log_weight.sum()) {
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
      phi_(std::move(order.log_sum)),
      cap_(phi_.size(), 0.0f),
      visits_(phi_.size(), 0.0) {
  make_rows(model, weights);
}

void PathSystem::make_rows(const Model& model, const LogWeights& weights) {
  lost_weights_ = false;
  if (model.is_deterministic() && model.actions() <= static_cast<Action>(PaddedRows::kWidth)) {
    pad_rows(model, weights);
  } else {
    pack_rows(model, weights);
  }
  if (cautious_) be_cautious();
}

void PathSystem::be_cautious() {
  cautious_ = true;
  cap_.assign(cap_.size(), 0.0f);
}

// The most that body(p) returns, over all unknowns.
template <typename Body>
double PathSystem::most(Body&& body) const {
  return max_over_parts(size() - ends_, [&](int64_t from, int64_t until) {
    double most = 0.0;
    for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
         ++p) {
      most = larger(most, body(p));
    }
    return most;
  });
}

void PathSystem::pad_rows(const Model& model, const LogWeights& weights) {
  constexpr size_t kWidth = PaddedRows::kWidth;
  reserve_in_huge_pages(rows_.to, kWidth * phi_.size());
  reserve_in_huge_pages(rows_.weight, kWidth * phi_.size());
  rows_.to.assign(kWidth * phi_.size(), 0);
  rows_.weight.assign(kWidth * phi_.size(), 0.0);
  const double uniform = std::exp(weights.uniform.sum());
  const Action d = model.actions();
  std::atomic<bool> diverge{false}, lost{false};
  bandwidth_ = static_cast<int32_t>(most([&](size_t p) {
    const State s = state_[p];
    const int32_t here = static_cast<int32_t>(p);
    const State* const next = model.successors().data() + model.row(s, 0);
    int32_t* const to = &rows_.to[kWidth * p];
    double* const weight = &rows_.weight[kWidth * p];
    double stay = 0.0, cap = 0.0;
    int32_t widest = 0;
    bool whole = true;
    for (Action a = 0; a < d; ++a) {
      if (next[a] == kNone) continue;
      const int32_t t = position_[static_cast<size_t>(next[a])];
      if (t < 0) continue;
      const LogWeight log_weight = weights.at(s, a, 0);
      if (log_weight.high == -INFINITY) continue;
      const double plain = weights.transition ? std::exp(log_weight.sum()) : uniform;
      if (t == here) {
        stay += plain;
        continue;
      }
      to[a] = t;
      weight[a] = std::exp(log_weight.between(phi_[p], phi_[static_cast<size_t>(t)]));
      whole &= weight[a] > kLost;
      if (t > here) {
        weight[a] = -weight[a];
        cap += plain;
      }
      widest = std::max(widest, std::abs(here - t));
    }
    const double leave = 1.0 - stay;
    if (!(leave > 0.0)) diverge.store(true, std::memory_order_relaxed);
    if (!whole) lost.store(true, std::memory_order_relaxed);
    visits_[p] = 1.0 / leave;
    if (stay > 0.0) {
      for (Action a = 0; a < d; ++a) weight[a] /= leave;
      cap /= leave;
    }
    cap_[p] = static_cast<float>(std::min(cap, 0.98));
    return static_cast<double>(widest);
  }));
  loops_diverge_ = diverge;
  lost_weights_ = lost;
}

void PathSystem::pack_rows(const Model& model, const LogWeights& weights) {
  const size_t n = static_cast<size_t>(size());
  rows_.begin.assign(n + 1, 0);
  in_parts(size() - ends_, [&](int64_t from, int64_t until) {
    std::vector<Entry> row;
    for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
         ++p) {
      gather(model, weights, state_[p], position_, row);
      rows_.begin[p + 1] = static_cast<uint32_t>(row.size());
    }
  });
  for (size_t p = 0; p < n; ++p) rows_.begin[p + 1] += rows_.begin[p];
  rows_.to.resize(rows_.begin.back());
  rows_.weight.resize(rows_.begin.back());
  rows_.split.assign(n, 0);
  const double uniform = weights.transition ? 0.0 : std::exp(weights.uniform.sum());
  std::atomic<bool> diverge{false}, lost{false};
  bandwidth_ =
      static_cast<int32_t>(max_over_parts(size() - ends_, [&](int64_t from, int64_t until) {
        std::vector<Entry> row;
        int32_t widest = 0;
        bool whole = true;
        for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
             ++p) {
          const double leave = 1.0 - gather(model, weights, state_[p], position_, row);
          if (!(leave > 0.0)) diverge.store(true, std::memory_order_relaxed);
          visits_[p] = 1.0 / leave;
          uint32_t e = rows_.begin[p];
          const int32_t here = static_cast<int32_t>(p);
          double cap = 0.0;
          rows_.split[p] = e;
          for (const Entry& entry : row) {
            const double plain = weights.transition ? std::exp(entry.log_weight.sum()) : uniform;
            rows_.to[e] = entry.to;
            rows_.weight[e] =
                entry.times / leave *
                std::exp(entry.log_weight.between(phi_[p], phi_[static_cast<size_t>(entry.to)]));
            whole &= rows_.weight[e++] > kLost;
            if (entry.to < here) {
              rows_.split[p] = e;
            } else {
              cap += entry.times / leave * plain;
            }
            widest = std::max(widest, std::abs(here - entry.to));
          }
          cap_[p] = static_cast<float>(std::min(cap, 0.98));
        }
        if (!whole) lost.store(true, std::memory_order_relaxed);
        return static_cast<double>(widest);
      }));
  loops_diverge_ = diverge;
  lost_weights_ = lost;
}

// Only ever needed where one sweep moves z beyond the range of doubles: the ratio sweep from
// z = 1 in logarithms.
void PathSystem::log_sweep() {
  const size_t n = static_cast<size_t>(size());
  std::vector<double> change(n, 0.0);  // log z
  rows_.visit([&](const auto& rows) {
    for (size_t p = static_cast<size_t>(ends_); p < n; ++p) {
      const int32_t here = static_cast<int32_t>(p);
      double top = -INFINITY, sum = 0.0, later = 0.0;
      for (size_t e = rows.begin(p); e < rows.end(p); ++e) {
        if (rows.weight(e) == 0.0) continue;
        if (rows.to[e] < here) top = std::max(top, change[static_cast<size_t>(rows.to[e])]);
        if (rows.to[e] > here) later += rows.weight(e);
      }
      for (size_t e = rows.begin(p); e < rows.end(p); ++e) {
        if (rows.weight(e) == 0.0 || rows.to[e] > here) continue;
        sum += rows.weight(e) * std::exp(change[static_cast<size_t>(rows.to[e])] - top);
      }
      if (top == -INFINITY) {  // nothing comes from earlier states
        if (later > 0.0) change[p] = std::log(later);
        continue;
      }
      const double moving = std::min(later, static_cast<double>(cap_[p])), fixed = later - moving;
      const double earlier = top + std::log(sum);
      const double high = fixed > 0.0 ? std::max(earlier, 0.0) : earlier;
      change[p] =
          high + std::log(std::exp(earlier - high) + fixed * std::exp(-high)) - std::log1p(-moving);
    }
    lost_weights_ = true;
    rest_.resize(n, 0.0);
    in_parts(size(), [&](int64_t from, int64_t until) {
      for (size_t p = static_cast<size_t>(from); p < static_cast<size_t>(until); ++p) {
        const double before = phi_[p];
        phi_[p] += change[p];
        rest_[p] += (before - phi_[p]) + change[p];
        for (size_t e = rows.begin(p); e < rows.end(p); ++e) {
          double& weight = rows_.weight[e];
          if (weight == 0.0) continue;
          const double moved = change[static_cast<size_t>(rows.to[e])] - change[p];
          weight = std::copysign(std::exp(std::log(std::abs(weight)) + moved), weight);
        }
      }
    });
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
  const auto run_block = [&](int64_t b, int64_t sweep) {
    if (!forward) b = blocks - 1 - b;
    body(static_cast<size_t>(first + b * block),
         static_cast<size_t>(first + std::min(n, (b + 1) * block)), sweep);
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
        if (b >= 0 && b < blocks) run_block(b, team * kMembers + member);
      }
      done[static_cast<size_t>(team)].store(front + 1 - 2 * (kMembers - 1),
                                            std::memory_order_release);
    }
  });
}

bool PathSystem::ratio_sweeps(std::vector<double>& z) const {
  std::atomic<bool> fine{true};
  double* const value = z.data();
  rows_.visit([&](const auto rows) {
    run_sweeps(true, [&](size_t from, size_t until, int64_t) {
      bool good = true;
      for (size_t p = from; p < until; ++p) {
        const RowSums sums = rows.sums(p, value);
        const double own = value[p];
        const double moving = std::min(sums.later, static_cast<double>(cap_[p]) * own);
        const double updated = (sums.earlier + (sums.later - moving)) * own / (own - moving);
        value[p] = updated;
        good &= updated < 1e200 && updated > 1e-200;
      }
      if (!good) fine.store(false, std::memory_order_relaxed);
    });
  });
  return fine;
}

double PathSystem::z_cycle(std::vector<double>& z) {
  if (!ratio_sweeps(z)) {
    std::fill(z.begin(), z.end(), 1.0);
    log_sweep();
    return residual(z);
  }
  double* const value = z.data();
  double least = 1.0, most = 1.0, change = 0.0;  // of the last sweep, which has one thread
  rows_.visit([&](const auto rows) {
    run_sweeps(false, [&](size_t from, size_t until, int64_t sweep) {
      if (sweep < kCycle - 1) {
        for (size_t p = until; p-- > from;) value[p] = rows.sum(p, value);
        return;
      }
      for (size_t p = until; p-- > from;) {
        const double sum = rows.sum(p, value);
        change = larger(change, std::abs(sum - value[p]) / sum);
        value[p] = sum;
        least = std::min(least, sum);
        most = std::max(most, sum);
      }
    });
  });
  if (most > kDrift || least < 1.0 / kDrift) fold(z);
  return change;
}

double PathSystem::value_cycle(const std::vector<double>& r, std::vector<double>& v,
                               bool plain) const {
  const double most_moving = plain ? 0.0 : 1.0;
  double* const value = v.data();
  double change = 0.0;  // of the last sweep, which has one thread
  rows_.visit([&](const auto rows) {
    run_sweeps(true, [&](size_t from, size_t until, int64_t) {
      for (size_t p = from; p < until; ++p) {
        const double moving =
            std::min({rows.later_weight(p), static_cast<double>(cap_[p]), most_moving});
        value[p] = (r[p] + rows.sum(p, value) - moving * value[p]) / (1.0 - moving);
      }
    });
    run_sweeps(false, [&](size_t from, size_t until, int64_t sweep) {
      if (sweep < kCycle - 1) {
        for (size_t p = until; p-- > from;) value[p] = r[p] + rows.sum(p, value);
        return;
      }
      for (size_t p = until; p-- > from;) {
        const double sum = r[p] + rows.sum(p, value);
        change = larger(change, std::abs(sum - value[p]));
        value[p] = sum;
      }
    });
  });
  return change;
}

double PathSystem::power_sweep(std::vector<double>& z, std::vector<double>& scratch) const {
  const double top = *std::max_element(phi_.begin(), phi_.end());
  scratch.resize(z.size());
  std::copy(z.begin(), z.begin() + ends_, scratch.begin());
  const double change = rows_.visit([&](const auto rows) {
    return most([&](size_t p) {
      const double sum = rows.sum(p, z.data());
      scratch[p] = sum;
      return std::abs(sum - z[p]) * std::exp(phi_[p] - top);
    });
  });
  std::swap(z, scratch);
  return change;
}

double PathSystem::residual(const std::vector<double>& z) const {
  return rows_.visit([&](const auto rows) {
    return most([&](size_t p) { return std::abs(z[p] - rows.sum(p, z.data())) / z[p]; });
  });
}

double PathSystem::value_residual(const std::vector<double>& r,
                                  const std::vector<double>& v) const {
  return rows_.visit([&](const auto rows) {
    return most([&](size_t p) { return std::abs(r[p] - v[p] + rows.sum(p, v.data())); });
  });
}

void PathSystem::apply(const std::vector<double>& v, std::vector<double>& out) const {
  std::fill(out.begin(), out.begin() + ends_, 0.0);
  rows_.visit([&](const auto rows) {
    in_parts(size() - ends_, [&](int64_t from, int64_t until) {
      for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
           ++p) {
        out[p] = v[p] - rows.sum(p, v.data());
      }
    });
  });
}

void PathSystem::fold(std::vector<double>& z) {
  std::atomic<bool> lost{lost_weights_};
  const bool keep_rest = lost_weights_;
  if (keep_rest) rest_.resize(phi_.size(), 0.0);
  rows_.visit([&](const auto rows) {
    in_parts(size(), [&](int64_t from, int64_t until) {
      bool whole = true;
      for (size_t p = static_cast<size_t>(from); p < static_cast<size_t>(until); ++p) {
        const double before = phi_[p], log_z = std::log(z[p]);
        phi_[p] += log_z;
        if (keep_rest) rest_[p] += (before - phi_[p]) + log_z;
        const double inverse = 1.0 / z[p];
        for (size_t e = rows.begin(p); e < rows.end(p); ++e) {
          double& weight = rows_.weight[e];
          if (weight == 0.0) continue;
          weight = (weight * z[static_cast<size_t>(rows.to[e])]) * inverse;
          whole &= std::abs(weight) > kLost;
        }
      }
      if (!whole) lost.store(true, std::memory_order_relaxed);
    });
  });
  lost_weights_ = lost;
  std::fill(z.begin(), z.end(), 1.0);
}

void PathSystem::rebuild(const Model& model, const LogWeights& weights, std::vector<double>& z) {
  rest_.resize(phi_.size(), 0.0);
  in_parts(size() - ends_, [&](int64_t from, int64_t until) {
    for (size_t p = static_cast<size_t>(from + ends_); p < static_cast<size_t>(until + ends_);
         ++p) {
      const double before = phi_[p], log_z = std::log(z[p]) + rest_[p];
      phi_[p] += log_z;
      z[p] = std::exp((before - phi_[p]) + log_z);
      rest_[p] = 0.0;
    }
  });
  make_rows(model, weights);
}

}  // namespace agora::planning

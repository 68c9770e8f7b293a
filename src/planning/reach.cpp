#include "planning/reach.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/error.h"
#include "planning/backward.h"
#include "planning/parts.h"

namespace agora::planning {
namespace {

PathOrder ends_first(const Model& model) {
  PathOrder order;
  order.position.assign(static_cast<size_t>(model.states()), -1);
  order.state.reserve(static_cast<size_t>(model.states()));
  for (const Terminal& end : model.terminals()) {
    order.position[static_cast<size_t>(end.state)] = order.ends++;
    order.state.push_back(end.state);
  }
  return order;
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -INFINITY ? a : a + std::log1p(std::exp(b - a));
}

// States by a key that only grows while they wait, the largest first: exactly from a heap...
class Heap {
 public:
  void push(State s, double key) { items_.emplace(key, -s); }
  bool pop(State& s) {
    if (items_.empty()) return false;
    s = -items_.top().second;
    items_.pop();
    return true;
  }

 private:
  std::priority_queue<std::pair<double, State>> items_;
};

// ... or nearly so, from a ring of buckets, if no key falls more than `span` below the last one.
class Buckets {
 public:
  explicit Buckets(double span) : inverse_width_((kCount - 4) / span), buckets_(kCount) {}
  void push(State s, double key) {
    const int64_t bucket = std::max(current_, static_cast<int64_t>(-key * inverse_width_) + 1);
    buckets_[static_cast<size_t>(bucket % kCount)].push_back(s);
    ++waiting_;
  }
  bool pop(State& s) {
    if (waiting_ == 0) return false;
    while (true) {
      std::vector<State>& bucket = buckets_[static_cast<size_t>(current_ % kCount)];
      if (head_ < bucket.size()) {
        s = bucket[head_++];
        --waiting_;
        return true;
      }
      bucket.clear();
      head_ = 0;
      ++current_;
    }
  }

 private:
  static constexpr int64_t kCount = 64;
  double inverse_width_;
  std::vector<std::vector<State>> buckets_;
  int64_t current_ = 0, waiting_ = 0;
  size_t head_ = 0;
};

template <typename Queue>
void build_up(const Model& model, const LogWeights& weights, Queue queue, PathOrder& order) {
  const Backward backward(model);
  std::vector<double> sum(static_cast<size_t>(model.states()), -INFINITY);
  std::vector<double> estimate(static_cast<size_t>(model.states()), -INFINITY);
  const bool uniform = model.is_deterministic() && !weights.transition;
  const double uniform_weight = std::exp(weights.uniform);
  const auto settle = [&](State next) {
    const double own =
        order.log_sum[static_cast<size_t>(order.position[static_cast<size_t>(next)])];
    State last = kNone;
    backward.for_each(next, [&](State s) {
      if (s == last || order.position[static_cast<size_t>(s)] >= 0) return;
      last = s;
      double through = -INFINITY, stay = 0.0, down = 0.0, up = 0.0;
      const auto share_of = [&](State to) -> double& {
        return to == s ? stay : order.position[static_cast<size_t>(to)] >= 0 ? down : up;
      };
      if (uniform) {
        const State* row = model.successors().data() + model.row(s, 0);
        int times = 0;
        for (Action a = 0; a < model.actions(); ++a) {
          if (row[a] == kNone) continue;
          times += row[a] == next;
          share_of(row[a]) += uniform_weight;
        }
        through = own + weights.uniform + (times == 1 ? 0.0 : std::log(times));
      } else {
        for (Action a = 0; a < model.actions(); ++a) {
          for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
            const State to = model.transition(s, a, i).next;
            const double log_weight = weights(s, a, i);
            if (to == next) through = log_add(through, log_weight + own);
            share_of(to) += std::exp(log_weight);
          }
        }
      }
      if (through == -INFINITY) return;
      double& total = sum[static_cast<size_t>(s)];
      total = log_add(total, through);
      // Z (1 - stay) = S + up Z', closed by Z' / Z = Z / (mean of Z before): exact where Z falls
      // by the same factor at every step.
      const double leave = std::max(1.0 - stay, 1e-3);
      const double root = std::sqrt(std::max(0.0, leave * leave - 4.0 * up * down));
      estimate[static_cast<size_t>(s)] = total + std::log(2.0 / (leave + root));
      queue.push(s, estimate[static_cast<size_t>(s)]);
    });
  };
  for (int32_t p = 0; p < order.ends; ++p) settle(order.state[static_cast<size_t>(p)]);
  for (State s; queue.pop(s);) {
    if (order.position[static_cast<size_t>(s)] >= 0) continue;
    order.position[static_cast<size_t>(s)] = static_cast<int32_t>(order.state.size());
    order.state.push_back(s);
    order.log_sum.push_back(estimate[static_cast<size_t>(s)]);
    settle(s);
  }
}

}  // namespace

PathOrder path_order(const Model& model, const LogWeights& weights) {
  PathOrder order = ends_first(model);
  order.log_sum.reserve(static_cast<size_t>(model.states()));
  bool same_ends = true;
  for (size_t p = 0; p < static_cast<size_t>(order.ends); ++p) {
    order.log_sum.push_back(weights.end.empty() ? 0.0 : weights.end[p]);
    same_ends &= order.log_sum[p] == 0.0;
  }
  if (!weights.transition && weights.uniform < 0.0 && same_ends) {
    build_up(model, weights, Buckets(-weights.uniform), order);
  } else {
    build_up(model, weights, Heap(), order);
  }
  return order;
}

PathOrder hop_order(const Model& model) {
  PathOrder order = ends_first(model);
  const Backward backward(model);
  for (size_t head = 0; head < order.state.size(); ++head) {
    backward.for_each(order.state[head], [&](State s) {
      if (order.position[static_cast<size_t>(s)] >= 0) return;
      order.position[static_cast<size_t>(s)] = static_cast<int32_t>(order.state.size());
      order.state.push_back(s);
    });
  }
  return order;
}

std::vector<Action> surely_ending(const Model& model) {
  const Backward backward(model);
  std::vector<char> candidate(static_cast<size_t>(model.states()), 1);
  // The greatest set in which every state can reach an end by actions that never leave the set.
  while (true) {
    std::vector<char> reaches(candidate.size(), 0);
    std::vector<Action> chosen(candidate.size(), kNone);
    std::vector<State> queue;
    for (const Terminal& end : model.terminals()) {
      reaches[static_cast<size_t>(end.state)] = 1;
      queue.push_back(end.state);
    }
    // Whether action a leads to `next` and only to candidates.
    const auto works = [&](State s, Action a, State next) {
      bool leads = false;
      for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
        const State to = model.transition(s, a, i).next;
        if (!candidate[static_cast<size_t>(to)]) return false;
        leads |= to == next;
      }
      return leads;
    };
    for (size_t head = 0; head < queue.size(); ++head) {
      const State next = queue[head];
      backward.for_each(next, [&](State s) {
        if (reaches[static_cast<size_t>(s)] || !candidate[static_cast<size_t>(s)]) return;
        for (Action a = 0; a < model.actions(); ++a) {
          if (!works(s, a, next)) continue;
          reaches[static_cast<size_t>(s)] = 1;
          chosen[static_cast<size_t>(s)] = a;
          queue.push_back(s);
          return;
        }
      });
    }
    if (model.is_deterministic() || reaches == candidate) return chosen;
    candidate = std::move(reaches);
  }
}

}  // namespace agora::planning

#include "planning/z/reach.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>

#include "base/error.h"
#include "base/huge_pages.h"
#include "planning/model/backward.h"
#include "planning/model/parts.h"

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

// States by a key that only grows while they wait, the largest first, nearly so: a ring of buckets,
// since no key falls more than `span` below the last one.
class Buckets {
 public:
  explicit Buckets(double span) : inverse_width_((kCount - 4) / span), buckets_(kCount) {}
  // `bucket`: where the state waits already, UINT32_MAX if it does not; where it will wait.
  void push(State s, double key, uint32_t& bucket) {
    const int64_t wanted = std::max(current_, static_cast<int64_t>(-key * inverse_width_) + 1);
    if (bucket == static_cast<uint32_t>(wanted & INT32_MAX)) return;
    bucket = static_cast<uint32_t>(wanted & INT32_MAX);
    buckets_[static_cast<size_t>(wanted % kCount)].push_back(s);
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

// Z (1 - stay) = S + up Z', closed by Z' / Z = Z / (mean of Z before): exact where Z falls by the
// same factor at every step. Returns Z / S.
double closure(double stay, double down, double up) {
  const double leave = std::max(1.0 - stay, 1e-3);
  const double both = up > 0.0 ? 4.0 * up * down : 0.0;  // `down` may be infinite
  return 2.0 / (leave + std::sqrt(std::max(0.0, leave * leave - both)));
}

void build_up(const Model& model, const LogWeights& weights, PathOrder& order) {
  const Backward backward(model);
  std::vector<double> sum(static_cast<size_t>(model.states()), -INFINITY);
  std::vector<double> estimate(static_cast<size_t>(model.states()), -INFINITY);
  std::priority_queue<std::pair<double, State>> queue;
  const auto settle = [&](State next) {
    const double own =
        order.log_sum[static_cast<size_t>(order.position[static_cast<size_t>(next)])];
    State last = kNone;
    backward.for_each(next, [&](State s) {
      if (s == last || order.position[static_cast<size_t>(s)] >= 0) return;
      last = s;
      double through = -INFINITY, stay = 0.0, down = 0.0, up = 0.0;
      for (Action a = 0; a < model.actions(); ++a) {
        for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
          const State to = model.transition(s, a, i).next;
          const double log_weight = weights(s, a, i);
          if (to == next) through = log_add(through, log_weight + own);
          (to == s                                        ? stay
           : order.position[static_cast<size_t>(to)] >= 0 ? down
                                                          : up) += std::exp(log_weight);
        }
      }
      if (through == -INFINITY) return;
      double& total = sum[static_cast<size_t>(s)];
      total = log_add(total, through);
      estimate[static_cast<size_t>(s)] = total + std::log(closure(stay, down, up));
      queue.emplace(estimate[static_cast<size_t>(s)], -s);
    });
  };
  for (int32_t p = 0; p < order.ends; ++p) settle(order.state[static_cast<size_t>(p)]);
  Watch watch;
  while (!queue.empty()) {
    watch();
    const State s = -queue.top().second;
    queue.pop();
    if (order.position[static_cast<size_t>(s)] >= 0) continue;
    order.position[static_cast<size_t>(s)] = static_cast<int32_t>(order.state.size());
    order.state.push_back(s);
    order.log_sum.push_back(estimate[static_cast<size_t>(s)]);
    settle(s);
  }
}

bool some_step_gains(const Model& model, const LogWeights& weights) {
  if (!weights.transition) return weights.uniform.sum() > 0.0;
  return max_over_parts(model.states(), [&](int64_t from, int64_t until) {
           for (State s = static_cast<State>(from); s < static_cast<State>(until); ++s) {
             for (Action a = 0; a < model.actions(); ++a) {
               for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
                 if (weights(s, a, i) > 0.0) return 1.0;
               }
             }
           }
           return 0.0;
         }) > 0.0;
}

// Raises sums that a step away from a state outweighs by more than e^kSlack, and what follows from
// that. Finds that it would never end by a loop among the steps taken over last: such a loop gains.
void raise_to_later_sums(const Model& model, const LogWeights& weights, PathOrder& order) {
  constexpr double kSlack = 50.0;
  const Backward backward(model);
  const size_t n = order.state.size();
  std::vector<int32_t> through(n, -1);  // position that a sum was taken over from
  std::vector<char> waits(n, 1);
  std::vector<int32_t> queue(n), next_queue;
  for (size_t p = 0; p < n; ++p) queue[p] = static_cast<int32_t>(p);
  const auto raise_before = [&](int32_t to) {
    const State next = order.state[static_cast<size_t>(to)];
    backward.for_each(next, [&](State s) {
      const int32_t p = order.position[static_cast<size_t>(s)];
      if (p < order.ends) return;
      double& own = order.log_sum[static_cast<size_t>(p)];
      for (Action a = 0; a < model.actions(); ++a) {
        for (int64_t i = 0, count = model.transition_count(s, a); i < count; ++i) {
          if (model.transition(s, a, i).next != next) continue;
          const double offer = weights(s, a, i) + order.log_sum[static_cast<size_t>(to)];
          if (!(offer > own + kSlack)) continue;
          own = offer;
          through[static_cast<size_t>(p)] = to;
          if (!waits[static_cast<size_t>(p)]) next_queue.push_back(p);
          waits[static_cast<size_t>(p)] = 1;
        }
      }
    });
  };
  const auto has_loop = [&] {
    std::vector<int32_t> seen(n, -1);
    for (size_t p = 0; p < n; ++p) {
      int32_t at = static_cast<int32_t>(p);
      while (at >= 0 && seen[static_cast<size_t>(at)] < 0) {
        seen[static_cast<size_t>(at)] = static_cast<int32_t>(p);
        at = through[static_cast<size_t>(at)];
      }
      if (at >= 0 && seen[static_cast<size_t>(at)] == static_cast<int32_t>(p)) return true;
    }
    return false;
  };
  for (size_t raised = 0; !queue.empty(); std::swap(queue, next_queue)) {
    throw_if_stopped();
    next_queue.clear();
    for (const int32_t p : queue) {
      waits[static_cast<size_t>(p)] = 0;
      raise_before(p);
    }
    raised += next_queue.size();
    if (raised <= n) continue;
    raised = 0;
    if (has_loop()) {
      order.diverges = true;
      return;
    }
  }
}

// The same as build_up where all steps weigh the same: without logarithms, and with one place in
// memory per state. Sums are m 2^(kScale e), m near one.
class UniformBuildUp {
 public:
  // A sum moves by one scale a step at most.
  static constexpr double kLeastLogWeight = -150.0;

  UniformBuildUp(const Model& model, double log_weight, PathOrder& order)
      : model_(model),
        order_(order),
        backward_(model),
        queue_(-log_weight),
        weight_(std::exp(log_weight)),
        fresh_(static_cast<size_t>(model.actions()) + 1) {
    reserve_in_huge_pages(nodes_, static_cast<size_t>(model.states()));
    nodes_.resize(static_cast<size_t>(model.states()));
    distinct_ = count_actions();
    for (int down = 0; down < kTable; ++down) {
      for (int stays = 0; stays < kTable; ++stays) {
        for (int up = 0; up < kTable; ++up) {
          closures_[down][stays][up] = closure(stays * weight_, down * weight_, up * weight_);
        }
      }
    }
  }

  void run() {
    for (int32_t p = 0; p < order_.ends; ++p) {
      nodes_[static_cast<size_t>(order_.state[static_cast<size_t>(p)])].estimate = 1.0;
    }
    for (int32_t p = 0; p < order_.ends; ++p) settle(order_.state[static_cast<size_t>(p)]);
    Watch watch;
    for (State s; queue_.pop(s);) {
      watch();
      int32_t& position = order_.position[static_cast<size_t>(s)];
      if (position >= 0) continue;
      position = static_cast<int32_t>(order_.state.size());
      order_.state.push_back(s);
      settle(s);
    }
    order_.log_sum.resize(order_.state.size());
    in_parts(model_.states(), [&](int64_t from, int64_t until) {
      for (size_t s = static_cast<size_t>(from); s < static_cast<size_t>(until); ++s) {
        if (order_.position[s] < 0) continue;
        order_.log_sum[static_cast<size_t>(order_.position[s])] =
            std::log(nodes_[s].estimate) + M_LN2 * kScale * nodes_[s].scale;
      }
    });
  }

 private:
  // Actions are counted by those that lead to earlier states, stay, and exist.
  struct Node {
    double sum = 0.0, estimate = 0.0;
    int32_t scale = 0;
    uint32_t bucket = UINT32_MAX;
    State seen_from = kNone;  // the earlier state that was settled last
    uint8_t down = 0, stays = 0, all = 0;
  };
  static constexpr int kScale = 512;
  static constexpr int kTable = 8;

  double closed(int down, int stays, int up) const {
    if (std::max({down, stays, up}) < kTable) return closures_[down][stays][up];
    return closure(stays * weight_, down * weight_, up * weight_);
  }

  // Fills in `stays` and `all`; whether no two actions of a state lead to the same other one.
  bool count_actions() {
    const size_t d = static_cast<size_t>(model_.actions());
    return max_over_parts(model_.states(), [&](int64_t from, int64_t until) {
             bool twice = false;
             for (size_t s = static_cast<size_t>(from); s < static_cast<size_t>(until); ++s) {
               const State* const row = model_.successors().data() + s * d;
               int stays = 0, all = 0;
               for (size_t a = 0; a < d; ++a) {
                 const bool is_move = (row[a] != kNone) & (row[a] != static_cast<State>(s));
                 stays += row[a] == static_cast<State>(s);
                 all += row[a] != kNone;
                 for (size_t b = 0; b < a; ++b) twice |= is_move & (row[a] == row[b]);
               }
               nodes_[s].stays = static_cast<uint8_t>(stays);
               nodes_[s].all = static_cast<uint8_t>(all);
             }
             return twice ? 1.0 : 0.0;
           }) == 0.0;
  }

  int count(State s, State next) const {
    const State* const row = model_.successors().data() + model_.row(s, 0);
    return static_cast<int>(std::count(row, row + model_.actions(), next));
  }

  void settle(State next) {
    const Node& own = nodes_[static_cast<size_t>(next)];
    double through = own.estimate * weight_;
    int32_t scale = own.scale;
    if (through < 0x1p-256) {
      through *= 0x1p512;
      --scale;
    }
    const auto reach = [&](State s) { relax(s, next, through, scale); };
    if (order_.position[static_cast<size_t>(next)] < order_.ends || !backward_.reversible()) {
      backward_.for_each(next, reach);
      return;
    }
    // Which of its neighbours are new is a toss-up: collect them first, without a branch.
    const State* const row = model_.successors().data() + model_.row(next, 0);
    const Action d = model_.actions();
    size_t count = 0;
    for (Action a = 0; a < d; ++a) {
      const State s = row[a] == kNone ? next : row[a];
      fresh_[count] = s;
      count += order_.position[static_cast<size_t>(s)] < 0;
    }
    for (size_t k = 0; k < count; ++k) reach(fresh_[k]);
  }

  void relax(State s, State next, double through, int32_t scale) {
    if (order_.position[static_cast<size_t>(s)] >= 0) return;
    Node& node = nodes_[static_cast<size_t>(s)];
    if (node.seen_from == next) return;
    node.seen_from = next;
    const int times = distinct_ ? 1 : count(s, next);
    add(node, times * through, scale);
    node.down = static_cast<uint8_t>(node.down + times);
    node.estimate = node.sum * closed(node.down, node.stays, node.all - node.stays - node.down);
    queue_.push(s, M_LN2 * (kScale * int64_t{node.scale} + rough_log2(node.estimate)), node.bucket);
  }

  static void add(Node& node, double value, int32_t scale) {
    if (node.sum == 0.0 || scale > node.scale + 1) {
      node.sum = value;
      node.scale = scale;
    } else if (scale == node.scale) {
      node.sum += value;
    } else if (scale == node.scale + 1) {
      node.sum = node.sum * 0x1p-512 + value;
      node.scale = scale;
    } else if (scale == node.scale - 1) {
      node.sum += value * 0x1p-512;
    }
    if (node.sum > 0x1p256) {
      node.sum *= 0x1p-512;
      ++node.scale;
    }
  }

  // To .01; continuous and rising.
  static double rough_log2(double x) {
    const uint64_t bits = std::bit_cast<uint64_t>(x);
    const double f = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
    return static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023) +
           (2.0 - f * (1.0 / 3.0)) * f - 5.0 / 3.0;
  }

  const Model& model_;
  PathOrder& order_;
  Backward backward_;
  Buckets queue_;
  double weight_;
  bool distinct_;  // no two actions of a state lead to the same other one
  double closures_[kTable][kTable][kTable];
  std::vector<Node> nodes_;
  std::vector<State> fresh_;  // (actions + 1)
};

}  // namespace

PathOrder path_order(const Model& model, const LogWeights& weights) {
  PathOrder order = ends_first(model);
  order.log_sum.reserve(static_cast<size_t>(model.states()));
  bool same_ends = true;
  for (size_t p = 0; p < static_cast<size_t>(order.ends); ++p) {
    order.log_sum.push_back(weights.end.empty() ? 0.0 : weights.end[p]);
    same_ends &= order.log_sum[p] == 0.0;
  }
  const double uniform = weights.uniform.sum();
  if (!weights.transition && uniform < 0.0 && uniform > UniformBuildUp::kLeastLogWeight &&
      same_ends && model.actions() <= UINT8_MAX) {
    UniformBuildUp(model, uniform, order).run();
    return order;
  }
  build_up(model, weights, order);
  if (some_step_gains(model, weights)) raise_to_later_sums(model, weights, order);
  return order;
}

PathOrder hop_order(const Model& model) {
  PathOrder order = ends_first(model);
  const Backward backward(model);
  Watch watch;
  for (size_t head = 0; head < order.state.size(); ++head) {
    watch();
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

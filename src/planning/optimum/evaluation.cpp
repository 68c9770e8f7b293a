#include "planning/optimum/evaluation.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "planning/model/parts.h"
#include "planning/z/krylov.h"
#include "planning/z/path_system.h"

namespace agora::planning {
namespace {

// The moves of a policy, backwards.
class MovesBack {
 public:
  MovesBack(const Model& model, const Policy& policy)
      : begin_(static_cast<size_t>(model.states()) + 1, 0) {
    for_each(model, policy, [&](State, State next) { ++begin_[static_cast<size_t>(next) + 1]; });
    for (size_t s = 1; s < begin_.size(); ++s) begin_[s] += begin_[s - 1];
    from_.resize(begin_.back());
    std::vector<size_t> fill(begin_.begin(), begin_.end() - 1);
    for_each(model, policy,
             [&](State s, State next) { from_[fill[static_cast<size_t>(next)]++] = s; });
  }

  // Grows `set`, whose states are `found`, by all that may come to it, the nearest first.
  void close(std::vector<char>& set, std::vector<State>& found) const {
    Watch watch;
    for (size_t head = 0; head < found.size(); ++head) {
      watch();
      const size_t next = static_cast<size_t>(found[head]);
      for (size_t k = begin_[next]; k < begin_[next + 1]; ++k) {
        if (set[static_cast<size_t>(from_[k])]) continue;
        set[static_cast<size_t>(from_[k])] = 1;
        found.push_back(from_[k]);
      }
    }
  }

 private:
  template <typename Visit>
  static void for_each(const Model& model, const Policy& policy, Visit&& visit) {
    for (State s = 0; s < model.states(); ++s) {
      for (Action a = 0; a < model.actions(); ++a) {
        if (policy(s, a) <= 0.0) continue;
        for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
          const State next = model.transition(s, a, i).next;
          if (next != s) visit(s, next);
        }
      }
    }
  }

  std::vector<size_t> begin_;
  std::vector<State> from_;
};

// Terminal states, then those that end with probability one under the policy, nearest first; with
// a discount, all the others behind them.
PathOrder policy_order(const Model& model, const Policy& policy, double discount) {
  const size_t n = static_cast<size_t>(model.states());
  const MovesBack back(model, policy);
  PathOrder order;
  std::vector<char> ends(n, 0);
  for (const Terminal& end : model.terminals()) {
    ends[static_cast<size_t>(end.state)] = 1;
    order.state.push_back(end.state);
  }
  order.ends = static_cast<int32_t>(order.state.size());
  back.close(ends, order.state);
  std::vector<State> lost;
  for (State s = 0; s < model.states(); ++s) {
    if (!ends[static_cast<size_t>(s)]) lost.push_back(s);
  }
  if (discount < 1.0) {
    order.state.insert(order.state.end(), lost.begin(), lost.end());
  } else if (!lost.empty()) {
    std::vector<char> is_lost(n);
    for (size_t s = 0; s < n; ++s) is_lost[s] = !ends[s];
    back.close(is_lost, lost);
    std::erase_if(order.state, [&](State s) { return is_lost[static_cast<size_t>(s)]; });
  }
  order.position.assign(n, -1);
  for (size_t p = 0; p < order.state.size(); ++p) {
    order.position[static_cast<size_t>(order.state[p])] = static_cast<int32_t>(p);
  }
  order.log_sum.assign(order.state.size(), 0.0);
  return order;
}

constexpr int32_t kSmall = 300;  // states: LU takes no time

// Sweeps in place, which a discount makes converge; returns how many.
int64_t plain_sweeps(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v,
                     double target) {
  return system.rows().visit([&](const auto rows) {
    // A discount of .98 needs a thousand, one of .999 twenty; large systems have better ways then.
    const int64_t most = std::clamp<int64_t>(200'000'000 / system.size(), 1000, 20'000);
    int64_t sweeps = 0;
    Watch watch;
    for (double change = INFINITY; change > target && sweeps < most; ++sweeps) {
      change = 0.0;
      for (size_t p = static_cast<size_t>(system.ends()); p < v.size(); ++p) {
        watch();
        double sum = r[p];
        for (size_t e = rows.begin(p); e < rows.end(p); ++e) {
          sum += rows.weight(e) * v[static_cast<size_t>(rows.to[e])];
        }
        change = std::max(change, std::abs(sum - v[p]));
        v[p] = sum;
      }
    }
    return sweeps;
  });
}

// The sweeps of Z and Krylov's method where they do it, LU where they do not and the system is
// small.
int64_t solve_system(const PathSystem& system, const std::vector<double>& r, std::vector<double>& v,
                     double target, double discount) {
  int64_t sweeps = 0;
  if (system.size() > kSmall) {
    if (discount < 1.0) sweeps = plain_sweeps(system, r, v, target);
    if (system.value_residual(r, v) <= target) return sweeps;
    sweeps += solve_values(system, r, v, target, false);
    if (system.value_residual(r, v) <= target || system.size() > kDirectLimit) return sweeps;
  }
  return sweeps + solve_values(system, r, v, target, true);
}

}  // namespace

PolicyValue evaluate_rewards(const Model& model, const Policy& policy, double discount,
                             double tolerance, const std::function<double(State, Action)>& reward,
                             const std::function<double(State)>& end,
                             const std::vector<double>& from) {
  LogWeights weights;
  weights.transition = [&](State s, Action a, int64_t i) {
    return std::log(discount * policy(s, a) * model.transition(s, a, i).probability);
  };
  const PathSystem system(model, policy_order(model, policy, discount), weights);
  const size_t n = static_cast<size_t>(system.size());
  std::vector<double> r(n, 0.0), one(n, 0.0), value(n, 0.0), steps(n, 0.0);
  for (int32_t p = 0; p < system.ends(); ++p) value[static_cast<size_t>(p)] = end(system.state(p));
  in_parts(system.size() - system.ends(), [&](int64_t begin, int64_t until) {
    for (int32_t p = static_cast<int32_t>(begin) + system.ends();
         p < static_cast<int32_t>(until) + system.ends(); ++p) {
      const State s = system.state(p);
      double sum = 0.0, stay = 0.0;
      for (Action a = 0; a < model.actions(); ++a) {
        if (policy(s, a) <= 0.0) continue;
        sum += policy(s, a) * reward(s, a);
        for (int64_t i = 0, m = model.transition_count(s, a); i < m; ++i) {
          const auto t = model.transition(s, a, i);
          if (t.next == s) stay += discount * policy(s, a) * t.probability;
        }
      }
      r[static_cast<size_t>(p)] = sum / (1.0 - stay);
      one[static_cast<size_t>(p)] = 1.0 / (1.0 - stay);
    }
  });
  PolicyValue result;
  if (discount < 1.0) {
    result.longest = 1.0 / (1.0 - discount);
  } else {
    result.sweeps = solve_system(system, one, steps, 1e-3, discount);
    result.longest = 1.01 * (1.0 + *std::max_element(steps.begin(), steps.end()));
  }
  if (!from.empty()) {
    for (int32_t p = system.ends(); p < system.size(); ++p) {
      const double known = from[static_cast<size_t>(system.state(p))];
      if (std::isfinite(known)) value[static_cast<size_t>(p)] = known;
    }
  }
  double scale = 0.0;
  for (const double x : r) scale = std::max(scale, std::abs(x));
  result.sweeps += solve_system(
      system, r, value, std::max(0.5 * tolerance / result.longest, 1e-15 * scale * result.longest),
      discount);
  result.residual = system.value_residual(r, value);
  result.bound = result.residual * result.longest;
  result.value.assign(static_cast<size_t>(model.states()), -INFINITY);
  if (discount == 1.0) result.steps.assign(static_cast<size_t>(model.states()), INFINITY);
  for (int32_t p = 0; p < system.size(); ++p) {
    result.value[static_cast<size_t>(system.state(p))] = value[static_cast<size_t>(p)];
    if (discount == 1.0) {
      result.steps[static_cast<size_t>(system.state(p))] = steps[static_cast<size_t>(p)];
    }
  }
  return result;
}

PolicyValue evaluate_policy(const Model& model, const Policy& policy, double discount,
                            double tolerance, const std::vector<double>& from) {
  return evaluate_rewards(
      model, policy, discount, tolerance,
      [&](State s, Action a) { return model.expected_reward(s, a); },
      [&](State s) { return model.terminal_reward(s); }, from);
}

std::vector<char> surely_ends(const Model& model, const Policy& policy) {
  const PathOrder order = policy_order(model, policy, 1.0);
  std::vector<char> ends(order.position.size());
  for (size_t s = 0; s < ends.size(); ++s) ends[s] = order.position[s] >= 0;
  return ends;
}

Policy uniform_policy(const Model& model) {
  Policy policy;
  policy.actions = model.actions();
  const size_t d = static_cast<size_t>(model.actions());
  policy.probabilities.assign(static_cast<size_t>(model.states()) * d, 0.0);
  for (State s = 0; s < model.states(); ++s) {
    double count = 0.0;
    for (Action a = 0; a < model.actions(); ++a) count += model.has(s, a);
    for (Action a = 0; a < model.actions(); ++a) {
      if (model.has(s, a)) {
        policy.probabilities[static_cast<size_t>(s) * d + static_cast<size_t>(a)] = 1.0 / count;
      }
    }
  }
  return policy;
}

}  // namespace agora::planning

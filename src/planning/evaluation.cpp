#include "planning/evaluation.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "planning/krylov.h"
#include "planning/parts.h"
#include "planning/path_system.h"

namespace agora::planning {
namespace {

// States that end with probability one under the policy, nearest first, terminal ones in front;
// with a discount, all the others behind them.
PathOrder policy_order(const Model& model, const Policy& policy, double discount) {
  PathOrder order = hop_order(model);
  const size_t n = order.position.size();
  const auto leads_to = [&](State s, const std::vector<char>& set) {
    for (Action a = 0; a < model.actions(); ++a) {
      if (policy(s, a) <= 0.0) continue;
      for (int64_t i = 0, m = model.transition_count(s, a); i < m; ++i) {
        if (set[static_cast<size_t>(model.transition(s, a, i).next)]) return true;
      }
    }
    return false;
  };
  // Grows `set` by the states that lead to it, in place and in the order of hops.
  const auto close = [&](std::vector<char>& set, std::vector<State>* added) {
    for (bool grew = true; grew;) {
      grew = false;
      for (const State s : order.state) {
        if (set[static_cast<size_t>(s)] || !leads_to(s, set)) continue;
        set[static_cast<size_t>(s)] = 1;
        grew = true;
        if (added != nullptr) added->push_back(s);
      }
    }
  };
  std::vector<char> ends(n, 0);
  std::vector<State> live;
  for (const Terminal& end : model.terminals()) {
    ends[static_cast<size_t>(end.state)] = 1;
    live.push_back(end.state);
  }
  close(ends, &live);
  if (discount < 1.0) {
    for (State s = 0; s < model.states(); ++s) {
      if (!ends[static_cast<size_t>(s)]) live.push_back(s);
    }
  } else {
    std::vector<char> lost(n);
    for (size_t s = 0; s < n; ++s) lost[s] = !ends[s];
    close(lost, nullptr);
    std::erase_if(live, [&](State s) { return lost[static_cast<size_t>(s)]; });
  }
  order.state = std::move(live);
  order.position.assign(n, -1);
  for (size_t p = 0; p < order.state.size(); ++p) {
    order.position[static_cast<size_t>(order.state[p])] = static_cast<int32_t>(p);
  }
  order.log_sum.assign(order.state.size(), 0.0);
  return order;
}

}  // namespace

Evaluation evaluate_rewards(const Model& model, const Policy& policy, double discount,
                            double tolerance, const std::function<double(State, Action)>& reward,
                            const std::function<double(State)>& end) {
  LogWeights weights;
  weights.transition = [&](State s, Action a, int64_t i) {
    return std::log(discount * policy(s, a) * model.transition(s, a, i).probability);
  };
  const PathSystem system(model, policy_order(model, policy, discount), weights);
  const size_t n = static_cast<size_t>(system.size());
  std::vector<double> r(n, 0.0), one(n, 0.0), value(n, 0.0), steps(n, 0.0);
  for (int32_t p = 0; p < system.ends(); ++p) value[static_cast<size_t>(p)] = end(system.state(p));
  in_parts(system.size() - system.ends(), [&](int64_t from, int64_t until) {
    for (int32_t p = static_cast<int32_t>(from) + system.ends();
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
  Evaluation result;
  const bool direct = system.size() <= kDirectLimit;
  result.sweeps = solve_values(system, one, steps, 1e-3, direct);
  result.longest = 1.01 * (1.0 + *std::max_element(steps.begin(), steps.end()));
  double scale = 0.0;
  for (const double x : r) scale = std::max(scale, std::abs(x));
  result.sweeps += solve_values(
      system, r, value, std::max(0.5 * tolerance / result.longest, 1e-15 * scale * result.longest),
      direct);
  result.residual = system.value_residual(r, value);
  result.bound = result.residual * result.longest;
  result.value.assign(static_cast<size_t>(model.states()), -INFINITY);
  for (int32_t p = 0; p < system.size(); ++p) {
    result.value[static_cast<size_t>(system.state(p))] = value[static_cast<size_t>(p)];
  }
  return result;
}

Evaluation evaluate_policy(const Model& model, const Policy& policy, double discount,
                           double tolerance) {
  return evaluate_rewards(
      model, policy, discount, tolerance,
      [&](State s, Action a) { return model.expected_reward(s, a); },
      [&](State s) { return model.terminal_reward(s); });
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

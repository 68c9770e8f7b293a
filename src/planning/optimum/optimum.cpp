#include "planning/optimum/optimum.h"

#include <algorithm>
#include <numeric>

#include "planning/model/backward.h"
#include "planning/optimum/total_reward.h"
#include "planning/z/best_paths.h"
#include "planning/z/partition.h"
#include "planning/z/reach.h"

namespace agora::planning {

SparseRows::SparseRows(const Model& m, double discount_in)
    : model(m),
      row_begin(m.row_begin().data()),
      next(m.next().data()),
      probability(m.probability().data()),
      reward(static_cast<size_t>(m.states()) * static_cast<size_t>(m.actions())),
      discount(discount_in) {
  in_parts(static_cast<int64_t>(reward.size()), [&](int64_t from, int64_t until) {
    for (int64_t row = from; row < until; ++row) {
      double sum = 0.0;
      for (uint32_t t = row_begin[row]; t < row_begin[row + 1]; ++t) {
        sum += probability[t] * m.rewards()[t];
      }
      reward[static_cast<size_t>(row)] = sum;
    }
  });
}

ValueProblem value_problem(const Model& model, const SolveOptions& options) {
  ValueProblem problem{model, options.discount.value_or(model.discount()), {}, {}, {}};
  const size_t n = static_cast<size_t>(model.states());
  // From below: what is known of good paths is then never hidden by hopes for unknown ones.
  const double least = std::min(0.0, model.rewards().min());
  problem.value.assign(n, problem.discount < 1.0 ? least / (1.0 - problem.discount) : 0.0);
  if (!options.warm_start.empty()) {
    CHECK(options.warm_start.size() == n, "warm start of {} states", options.warm_start.size());
    problem.value = options.warm_start;
  }
  PathOrder order = hop_order(model);
  if (problem.discount == 1.0) {
    if (model.terminals().empty()) {
      throw user_error(
          "the model has no terminal state, so its total reward is not defined: give a discount "
          "below 1 or an absorbing goal");
    }
    problem.ending = surely_ending(model);
    require_live_start(model, [&](State s) {
      return problem.ending[static_cast<size_t>(s)] != kNone || model.terminal(s);
    });
    for (size_t s = 0; s < n; ++s) {
      if (problem.ending[s] == kNone) problem.value[s] = -INFINITY;
    }
    std::erase_if(order.state,
                  [&](State s) { return problem.ending[static_cast<size_t>(s)] == kNone; });
    problem.order = std::move(order.state);
  } else {
    problem.order.assign(order.state.begin() + order.ends, order.state.end());
    for (State s = 0; s < model.states(); ++s) {
      if (order.position[static_cast<size_t>(s)] < 0) problem.order.push_back(s);
    }
  }
  for (const Terminal& end : model.terminals()) {
    problem.value[static_cast<size_t>(end.state)] = end.reward;
  }
  return problem;
}

ValueProblem optimum_problem(const Model& model, const SolveOptions& options) {
  ValueProblem problem = value_problem(model, options);
  if (problem.discount == 1.0 && model.rewards().max() >= 0.0) start_from_below(problem);
  return problem;
}

double greedy_policy(const ValueProblem& problem, const std::vector<double>& value,
                     Policy& policy) {
  policy.actions = problem.model.actions();
  policy.greedy.assign(value.size(), kNone);
  return with_rows(problem.model, problem.discount, [&](const auto& rows) {
    return max_over_parts(
        static_cast<int64_t>(problem.order.size()), [&](int64_t from, int64_t until) {
          double most = 0.0;
          for (int64_t k = from; k < until; ++k) {
            const State s = problem.order[static_cast<size_t>(k)];
            const BestAction best = best_action(rows, s, value.data());
            policy.greedy[static_cast<size_t>(s)] = best.action;
            const double off = std::abs(best.value - value[static_cast<size_t>(s)]);
            most = larger(most, off);
          }
          return most;
        });
  });
}

double change_for(double discount, double tolerance) {
  return discount < 1.0 ? tolerance * (1.0 - discount) / discount : tolerance * 1e-2;
}

Solution finish_optimum(const ValueProblem& problem, std::vector<double> value,
                        const SolveOptions& options, int64_t sweeps) {
  Solution solution;
  solution.beta = options.beta;
  solution.discount = problem.discount;
  solution.value = std::move(value);
  solution.sweeps = sweeps;
  solution.residual = greedy_policy(problem, solution.value, solution.policy);
  if (problem.discount == 1.0) {
    finish_total_reward(problem, options, solution);
  } else {
    const bool exact = solution.residual == 0.0 && problem.model.is_deterministic();
    solution.bound = exact ? 0.0 : solution.residual / (1.0 - problem.discount);
  }
  return solution;
}

Solution optimal_values(const Model& model, const SolveOptions& options) {
  ValueProblem problem = optimum_problem(model, options);
  std::vector<double>& value = problem.value;
  if (problem.discount == 1.0 && has_best_paths(model)) {
    BestPaths paths = best_paths(model);
    Solution solution = finish_optimum(problem, std::move(paths.value), options, 1);
    solution.policy.greedy = std::move(paths.action);
    return solution;
  }
  const Backward backward(model);
  std::vector<int32_t> place(value.size(), -1);  // in the order
  for (size_t k = 0; k < problem.order.size(); ++k) {
    place[static_cast<size_t>(problem.order[k])] = static_cast<int32_t>(k);
  }
  // Places to look at: after a sweep, those whose successors have changed since they were updated.
  std::vector<int32_t> now(problem.order.size()), marked;
  std::iota(now.begin(), now.end(), 0);
  std::vector<char> is_marked(problem.order.size(), 0);
  Watch watch;
  double threshold = 0.25 * change_for(problem.discount, options.tolerance);
  return with_rows(model, problem.discount, [&](const auto& rows) {
    return iterate(problem, value, options, [&] {
      if (now.empty()) {  // the bound was not reached: all states again, more finely
        threshold *= 0.01;
        now.resize(problem.order.size());
        std::iota(now.begin(), now.end(), 0);
      }
      double change = 0.0;
      marked.clear();
      for (const int32_t k : now) {
        watch();
        const State s = problem.order[static_cast<size_t>(k)];
        is_marked[static_cast<size_t>(k)] = 0;
        const double best = best_value(rows, s, value.data());
        const double own = value[static_cast<size_t>(s)];
        const double off = std::abs(best - own);
        change = off <= change ? change : off;
        value[static_cast<size_t>(s)] = best;
        if (off <= threshold) continue;
        const auto mark = [&](State p) {
          const int32_t at = place[static_cast<size_t>(p)];
          if (at < 0 || is_marked[static_cast<size_t>(at)]) return;
          is_marked[static_cast<size_t>(at)] = 1;
          marked.push_back(at);
        };
        // Staying in the state counts on its own value.
        if (std::abs(best_value(rows, s, value.data()) - best) > threshold) mark(s);
        backward.for_each(s, mark);
      }
      std::erase_if(marked, [&](int32_t k) { return !is_marked[static_cast<size_t>(k)]; });
      std::sort(marked.begin(), marked.end());
      std::swap(now, marked);
      return change;
    });
  });
}

}  // namespace agora::planning

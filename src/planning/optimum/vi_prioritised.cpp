#include <queue>

#include "planning/optimum/optimum.h"
#include "planning/solver.h"

namespace agora::planning::kind_vi_prioritised {
namespace {

// For every state those that lead to it, itself included, and the largest probability with which
// they do.
struct Influence {
  std::vector<uint32_t> begin;  // (states + 1)
  std::vector<State> from;
  std::vector<double> weight;

  explicit Influence(const ValueProblem& problem)
      : begin(static_cast<size_t>(problem.model.states()) + 1, 0) {
    const Model& model = problem.model;
    std::vector<double> most(static_cast<size_t>(model.states()), 0.0);
    const auto for_each = [&](auto&& visit) {
      std::vector<State> reached;
      for (const State s : problem.order) {
        reached.clear();
        for (Action a = 0; a < model.actions(); ++a) {
          for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
            const auto t = model.transition(s, a, i);
            double& largest = most[static_cast<size_t>(t.next)];
            if (largest == 0.0) reached.push_back(t.next);
            largest = std::max(largest, t.probability);
          }
        }
        for (const State next : reached) {
          visit(s, next, std::exchange(most[static_cast<size_t>(next)], 0.0));
        }
      }
    };
    for_each([&](State, State next, double) { ++begin[static_cast<size_t>(next) + 1]; });
    for (size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
    from.resize(begin.back());
    weight.resize(begin.back());
    std::vector<uint32_t> fill(begin.begin(), begin.end() - 1);
    for_each([&](State s, State next, double p) {
      const uint32_t at = fill[static_cast<size_t>(next)]++;
      from[at] = s;
      weight[at] = p;
    });
  }
};

// Prioritised sweeping: the state whose value may change most goes first; those that lead to it
// wait with what its change can mean for them. Without positive rewards on a deterministic model
// this is close to Dijkstra's algorithm.
Solution prioritised(const Model& model, const SolveOptions& options) {
  ValueProblem problem = optimum_problem(model, options);
  std::vector<double>& value = problem.value;
  const double discount = problem.discount;
  const Influence influence(problem);
  std::vector<double> stay(static_cast<size_t>(model.states()) *
                           static_cast<size_t>(model.actions()));  // probability of not moving
  for (const State s : problem.order) {
    for (Action a = 0; a < model.actions(); ++a) {
      for (int64_t i = 0, n = model.transition_count(s, a); i < n; ++i) {
        const auto t = model.transition(s, a, i);
        if (t.next == s) stay[static_cast<size_t>(model.row(s, a))] += t.probability;
      }
    }
  }
  std::vector<double> priority(value.size()), queued(value.size());
  Watch watch;
  return with_rows(model, discount, [&](const auto& rows) {
    // The best value with all the steps of staying in the state summed up.
    const auto settled_value = [&](State s) {
      const double own = value[static_cast<size_t>(s)];
      double best = -INFINITY;
      for (Action a = 0; a < model.actions(); ++a) {
        const double again = discount * stay[static_cast<size_t>(model.row(s, a))];
        if (again == 1.0) continue;
        const double q = rows.q(s, a, value.data());
        best = std::max(best, again == 0.0 ? q : (q - again * own) / (1.0 - again));
      }
      return best;
    };
    double threshold = change_for(discount, options.tolerance);
    return iterate(problem, value, options, [&] {
      double change = 0.0, least = INFINITY, most = -INFINITY;
      for (const State s : problem.order) {
        watch();
        const double gain = best_value(rows, s, value.data()) - value[static_cast<size_t>(s)];
        priority[static_cast<size_t>(s)] = std::abs(gain);
        change = std::max(change, std::abs(gain));
        least = std::min(least, gain);
        most = std::max(most, gain);
      }
      if (change <= threshold) threshold *= 0.1;
      // Where nothing ends, what all states lack is found at once (MacQueen's bounds).
      const double common = 0.5 * (least + most);
      if (model.terminals().empty() && std::abs(common) > 0.5 * (most - least)) {
        for (const State s : problem.order)
          value[static_cast<size_t>(s)] += common / (1 - discount);
        return change;
      }
      std::priority_queue<std::pair<double, State>> queue;
      const auto wait = [&](State s) {
        const double own = priority[static_cast<size_t>(s)];
        if (!(own > threshold && own > 2.0 * queued[static_cast<size_t>(s)])) return;
        queued[static_cast<size_t>(s)] = own;
        queue.emplace(own, s);
      };
      std::fill(queued.begin(), queued.end(), 0.0);
      for (const State s : problem.order) wait(s);
      // As many updates as a few sweeps; iterate() then looks at everything again.
      for (size_t left = 4 * problem.order.size(); left > 0 && !queue.empty();) {
        const auto [key, s] = queue.top();
        queue.pop();
        if (key != queued[static_cast<size_t>(s)]) continue;  // an old entry
        watch();
        --left;
        const double best = settled_value(s);
        priority[static_cast<size_t>(s)] = queued[static_cast<size_t>(s)] = 0.0;
        if (!(best > -INFINITY)) continue;  // it can only stay
        const double off = std::abs(best - value[static_cast<size_t>(s)]);
        value[static_cast<size_t>(s)] = best;
        for (uint32_t k = influence.begin[static_cast<size_t>(s)];
             k < influence.begin[static_cast<size_t>(s) + 1]; ++k) {
          const State p = influence.from[k];
          if (p == s) continue;
          priority[static_cast<size_t>(p)] += discount * influence.weight[k] * off;
          wait(p);
        }
      }
      return change;
    });
  });
}

}  // namespace

Solver entry_vi_prioritised() {
  return {.name = "vi-prioritised",
          .summary = "value iteration, the state with the largest error first",
          .answer = Solver::Answer::kOptimum,
          .run = prioritised};
}

}  // namespace agora::planning::kind_vi_prioritised

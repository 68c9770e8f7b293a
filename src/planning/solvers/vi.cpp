#include <cmath>

#include "base/error.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

// Bellman's optimality equation, all states from the values of the sweep before.
Solution value_iteration(const Model& model, const SolveOptions& options) {
  Solution solution;
  const double discount = options.discount.value_or(model.discount());
  const size_t n = static_cast<size_t>(model.states());
  std::vector<double> value(n, 0.0), before;
  solution.policy.greedy.assign(n, kNone);
  for (const Terminal& end : model.terminals()) value[static_cast<size_t>(end.state)] = end.reward;
  double change = INFINITY;
  while (change * discount > options.tolerance * (1.0 - discount) && change > 0.0) {
    if (solution.sweeps == options.max_sweeps) {
      throw user_error("no convergence after {} sweeps (change {})", solution.sweeps, change);
    }
    before = value;
    change = 0.0;
    for (State s = 0; s < model.states(); ++s) {
      double best = -INFINITY;
      for (Action a = 0; a < model.actions(); ++a) {
        const int64_t count = model.transition_count(s, a);
        if (count == 0) continue;
        double q = 0.0;
        for (int64_t i = 0; i < count; ++i) {
          const auto t = model.transition(s, a, i);
          q += t.probability * (t.reward + discount * before[static_cast<size_t>(t.next)]);
        }
        if (q > best) {
          best = q;
          solution.policy.greedy[static_cast<size_t>(s)] = a;
        }
      }
      if (best == -INFINITY) continue;
      value[static_cast<size_t>(s)] = best;
      change = std::max(change, std::abs(best - before[static_cast<size_t>(s)]));
    }
    ++solution.sweeps;
  }
  solution.value = std::move(value);
  solution.discount = discount;
  solution.residual = change;
  solution.bound = discount < 1.0 ? change * discount / (1.0 - discount) : change;
  return solution;
}

}  // namespace

Solver entry_vi() {
  return {.name = "vi",
          .summary = "value iteration",
          .answer = Solver::Answer::kOptimum,
          .run = value_iteration};
}

}  // namespace agora::planning

#include <queue>

#include "planning/backward.h"
#include "planning/optimum.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

// Prioritised sweeping: the state whose value would change most goes first; those that lead to it
// are looked at again. Without positive rewards on a deterministic model this is close to
// Dijkstra's algorithm.
Solution prioritised(const Model& model, const SolveOptions& options) {
  ValueProblem problem = value_problem(model, options);
  std::vector<double>& value = problem.value;
  const Backward backward(model);
  Watch watch;
  std::vector<char> is_live(value.size(), 0);
  for (const State s : problem.order) is_live[static_cast<size_t>(s)] = 1;
  return with_rows(model, problem.discount, [&](const auto& rows) {
    double threshold = change_for(problem.discount, options.tolerance);
    return iterate(problem, value, options, [&] {
      std::priority_queue<std::pair<double, State>> queue;
      const auto look = [&](State s) {
        watch();
        const double off =
            std::abs(best_action(rows, s, value.data()).value - value[static_cast<size_t>(s)]);
        if (off > threshold) queue.emplace(off, s);
        return off;
      };
      double change = 0.0;
      for (const State s : problem.order) change = std::max(change, look(s));
      // As many updates as a few sweeps; iterate() then looks at everything again.
      for (size_t left = 4 * problem.order.size(); left > 0 && !queue.empty(); --left) {
        const State s = queue.top().second;
        queue.pop();
        const double best = best_action(rows, s, value.data()).value;
        if (best == value[static_cast<size_t>(s)]) continue;  // an old entry
        value[static_cast<size_t>(s)] = best;
        backward.for_each(s, [&](State p) {
          if (is_live[static_cast<size_t>(p)]) look(p);
        });
        look(s);
      }
      if (change <= threshold) threshold *= 0.1;
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

}  // namespace agora::planning

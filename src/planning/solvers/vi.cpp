#include "planning/optimum.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

// Bellman's optimality equation, all states from the values of the sweep before.
Solution value_iteration(const Model& model, const SolveOptions& options) {
  ValueProblem problem = value_problem(model, options);
  std::vector<double> next = problem.value;
  return with_rows(model, problem.discount, [&](const auto& rows) {
    return iterate(problem, problem.value, options, [&] {
      const double* const value = problem.value.data();
      const double change = max_over_parts(model.states(), [&](int64_t from, int64_t until) {
        double most = 0.0;
        for (int64_t s = from; s < until; ++s) {
          const double best = best_action(rows, static_cast<State>(s), value).value;
          if (best == -INFINITY) continue;  // terminal, or no way to an end
          const double off = std::abs(best - value[s]);
          most = off <= most ? most : off;
          next[static_cast<size_t>(s)] = best;
        }
        return most;
      });
      std::swap(problem.value, next);
      return change;
    });
  });
}

}  // namespace

Solver entry_vi() {
  return {.name = "vi",
          .summary = "value iteration, all states at once",
          .answer = Solver::Answer::kOptimum,
          .run = value_iteration};
}

}  // namespace agora::planning

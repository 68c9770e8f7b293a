#include "planning/optimum/optimum.h"
#include "planning/solver.h"

namespace agora::planning::kind_vi {
namespace {

// Bellman's optimality equation, all states from the values of the sweep before.
Solution value_iteration(const Model& model, const SolveOptions& options) {
  ValueProblem problem = optimum_problem(model, options);
  std::vector<double> next = problem.value;
  return with_rows(model, problem.discount, [&](const auto& rows) {
    return iterate(problem, problem.value, options, [&] {
      const double change = optimality_sweep(rows, problem.value.data(), next.data());
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

}  // namespace agora::planning::kind_vi

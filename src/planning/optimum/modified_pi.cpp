#include "planning/optimum/optimum.h"
#include "planning/solver.h"

namespace agora::planning::kind_modified_pi {
namespace {

constexpr int kEvaluations = 10;

// Modified policy iteration: one optimality sweep, then a few in which the greedy actions stay.
Solution modified_policy_iteration(const Model& model, const SolveOptions& options) {
  ValueProblem problem = optimum_problem(model, options);
  std::vector<double>& value = problem.value;
  Watch watch;
  std::vector<Action> action(value.size(), kNone);
  return with_rows(model, problem.discount, [&](const auto& rows) {
    return iterate(problem, value, options, [&] {
      double change = 0.0;
      for (const State s : problem.order) {
        watch();
        const BestAction best = best_action(rows, s, value.data());
        const double off = std::abs(best.value - value[static_cast<size_t>(s)]);
        change = off <= change ? change : off;
        value[static_cast<size_t>(s)] = best.value;
        action[static_cast<size_t>(s)] = best.action;
      }
      if (change == 0.0) return change;
      for (int k = 0; k < kEvaluations; ++k) {
        for (const State s : problem.order) {
          watch();
          value[static_cast<size_t>(s)] = rows.q(s, action[static_cast<size_t>(s)], value.data());
        }
      }
      return change;
    });
  });
}

}  // namespace

Solver entry_modified_pi() {
  return {.name = "modified-pi",
          .summary = "modified policy iteration",
          .answer = Solver::Answer::kOptimum,
          .run = modified_policy_iteration};
}

}  // namespace agora::planning::kind_modified_pi

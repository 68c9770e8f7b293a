#include "base/error.h"
#include "base/features.h"
#include "base/signals.h"
#include "planning/optimum/optimum.h"
#include "planning/solver.h"

#if AGORA_HAS_CLP
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#endif

namespace agora::planning::kind_lp {
namespace {

#if AGORA_HAS_CLP

// Ends the simplex method after Ctrl-C.
class Stop : public ClpEventHandler {
 public:
  int event(Event) override { return stop_requested() ? 5 : -1; }
  ClpEventHandler* clone() const override { return new Stop(*this); }
};

// The least V with V(s) >= r(s,a) + discount sum_s' P V(s') for every action.
Solution linear_program(const Model& model, const SolveOptions& options) {
  ValueProblem problem = value_problem(model, options);
  const size_t n = problem.order.size();
  std::vector<int> column(static_cast<size_t>(model.states()), -1);
  for (size_t k = 0; k < n; ++k)
    column[static_cast<size_t>(problem.order[k])] = static_cast<int>(k);

  std::vector<int> row_of, column_of;
  std::vector<double> entry, least;
  const auto put = [&](int at, double value) {
    row_of.push_back(static_cast<int>(least.size()));
    column_of.push_back(at);
    entry.push_back(value);
  };
  for (const State s : problem.order) {
    for (Action a = 0; a < model.actions(); ++a) {
      const int64_t count = model.transition_count(s, a);
      if (count == 0) continue;
      double right = model.expected_reward(s, a), own = 1.0;
      std::vector<std::pair<int, double>> others;
      for (int64_t i = 0; i < count; ++i) {
        const auto t = model.transition(s, a, i);
        const double weight = problem.discount * t.probability;
        const int to = column[static_cast<size_t>(t.next)];
        if (to < 0) {
          right += weight * problem.value[static_cast<size_t>(t.next)];
        } else if (t.next == s) {
          own -= weight;
        } else {
          others.emplace_back(to, -weight);
        }
      }
      if (right == -INFINITY) continue;  // may lead where no policy ends
      put(column[static_cast<size_t>(s)], own);
      for (const auto& [to, weight] : others) put(to, weight);
      least.push_back(right);
    }
  }
  const CoinPackedMatrix matrix(false, row_of.data(), column_of.data(), entry.data(),
                                static_cast<CoinBigIndex>(entry.size()));
  const std::vector<double> below(n, -COIN_DBL_MAX), above(n, COIN_DBL_MAX), cost(n, 1.0);
  const std::vector<double> unbounded(least.size(), COIN_DBL_MAX);
  ClpSimplex simplex;
  simplex.setLogLevel(0);
  simplex.loadProblem(matrix, below.data(), above.data(), cost.data(), least.data(),
                      unbounded.data());
  simplex.setPrimalTolerance(1e-9);
  simplex.setDualTolerance(1e-9);
  const Stop stop;
  simplex.passInEventHandler(&stop);
  simplex.dual();
  throw_if_stopped();
  if (simplex.isProvenPrimalInfeasible()) {
    throw user_error(
        "a loop gains reward for ever, so the total reward is infinite: give a "
        "discount below 1");
  }
  if (!simplex.isProvenOptimal()) {
    throw user_error("method 'lp' found no optimum (Clp ended with status {}); take pi",
                     simplex.status());
  }
  for (size_t k = 0; k < n; ++k) {
    problem.value[static_cast<size_t>(problem.order[k])] = simplex.getColSolution()[k];
  }
  std::vector<double> value = problem.value;
  Solution solution =
      finish_optimum(problem, std::move(value), options, simplex.numberIterations());
  if (solution.bound > options.tolerance) {
    solution.warnings.push_back(
        fmt::format("the simplex method's own tolerance allows an error "
                    "bound of {:.3g} only, not {:.3g}",
                    solution.bound, options.tolerance));
  }
  return solution;
}

#else

Solution linear_program(const Model&, const SolveOptions&) {
  throw user_error(
      "method 'lp' needs Clp, which this build does not have: install "
      "coinor-libclp-dev and build again");
}

#endif

}  // namespace

Solver entry_lp() {
  return {.name = "lp",
          .summary = "linear program for the optimal values (Clp)",
          .answer = Solver::Answer::kOptimum,
          .parameters = {tolerance_parameter()},
          .run = linear_program};
}

}  // namespace agora::planning::kind_lp

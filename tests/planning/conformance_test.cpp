#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/features.h"
#include "planning/models/builtin.h"
#include "planning/solver.h"

namespace agora::planning {
namespace {

constexpr State kMost = 1500;  // states; larger presets are left to the benchmarks

Model with_presets(const BuiltIn& builtin) {
  return builtin.make(Told(builtin.name, builtin.parameters, {}));
}

void expect_same(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t s = 0; s < found.size(); ++s) {
    if (std::isinf(expected[s])) continue;
    ASSERT_NEAR(found[s], expected[s], tolerance) << what << ", state " << s;
  }
}

// Nothing where Delta, as it may, says that it does not know Z.
std::optional<Solution> if_known(const Model& model, const Solver& solver,
                                 const SolveOptions& options) {
  try {
    return solve(model, solver.name, options);
  } catch (const UserError& error) {
    if (solver.name != "z-variational-loss") throw;
    EXPECT_NE(std::string(error.what()).find("Delta does not tell"), std::string::npos)
        << error.what();
    return std::nullopt;
  }
}

TEST(Conformance, EveryMethodAgreesOnEveryBuiltInModel) {
  int known_by_delta = 0;
  for (const BuiltIn& builtin : builtins()) {
    const Model model = with_presets(builtin);
    if (model.states() > kMost) continue;
    const Solution optimum = solve(model, "pi", {.discount = 0.95, .tolerance = 1e-8});
    const Solution averaged = solve(model, "z-averaged", {.beta = 0.5});
    const Solution variational = solve(model, "z-variational", {.beta = 0.5});
    for (const Solver& solver : solvers()) {
      if (solver.name == "z-petsc" && !AGORA_HAS_PETSC) continue;
      const std::string what = solver.name + " on " + builtin.name;
      if (solver.answer == Solver::Answer::kOptimum) {
        const Solution solution = solve(model, solver.name, {.discount = 0.95});
        EXPECT_LE(solution.bound, 1e-6) << what;
        expect_same(solution.value, optimum.value, 2e-6, what);
      } else if (solver.answer == Solver::Answer::kPartitionFunction &&
                 (solver.stochastic || model.is_deterministic())) {
        const bool is_variational = solver.name.find("variational") != std::string::npos;
        const auto solution = if_known(model, solver, {.beta = 0.5});
        if (!solution) continue;
        known_by_delta += solver.name == "z-variational-loss";
        expect_same(solution->log_z, (is_variational ? variational : averaged).log_z,
                    2e-6 + solution->bound, what);
      }
    }
  }
  EXPECT_GE(known_by_delta, 2);
}

}  // namespace
}  // namespace agora::planning

#include "cli/plan_solving.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/signals.h"
#include "planning/solver.h"

namespace agora::cli {

namespace {

void print_warnings(const planning::Solution& solution) {
  for (const std::string& warning : solution.warnings) {
    tell("agora: warning: {}\n", warning);
  }
}

}  // namespace

std::shared_ptr<SolveChoice> declare_solving(OptionList& app) {
  auto choice = std::make_shared<SolveChoice>();
  app.add("--method", choice->method,
          fmt::format("{} (default: z, or z-variational if the model is stochastic; modified-pi "
                      "with a discount below 1 and no --mu, or without ends)",
                      fmt::join(planning::method_names(), ", ")))
      .offers(planning::method_names(), false);
  choice->told = std::make_shared<KindOptions>(app, kinds_of(planning::solvers()));
  return choice;
}

// Without a method one is chosen that may leave some of them unused.
planning::SolveOptions SolveChoice::options() const {
  planning::SolveOptions result;
  if (!method.empty()) {
    const planning::Solver& solver = planning::find_solver(method);
    tell_options(result, solver.name, solver.parameters, told->given_to(solver.name));
    return result;
  }
  const Arguments given = told->given();
  for (const planning::Solver& solver : planning::solvers()) {
    for (const planning::SolveParameter& each : solver.parameters) {
      const auto found = given.find(each.name);
      if (found != given.end()) each.set(result, std::get<double>(found->second.value()));
    }
  }
  return result;
}

planning::Solution SolveChoice::run(const planning::Model& model) const {
  planning::SolveOptions watched = options();
  watched.progress = [](int64_t sweeps, double residual) {
    throw_if_stopped();
    note_activity("sweep {}, residual {:.1e}", sweeps, residual);
  };
  const Activity activity("solve");
  planning::Solution solution = planning::solve(model, method, watched);
  print_warnings(solution);
  return solution;
}

bool SolveChoice::is_shared() const {
  return method == "z-petsc" || planning::launched_processes() > 1;
}

planning::DistributedSolution SolveChoice::run_shared(const std::string& source,
                                                      const planning::LoadOptions& load) const {
  if (!method.empty() && method != "z" && method != "z-petsc") {
    planning::find_solver(method);
    throw user_error("method '{}' runs in one process; mpirun takes z-petsc", method);
  }
  const planning::SolveOptions how = options();
  planning::check_options(how);
  const auto shared = planning::solve_distributed(source, load, how);
  print_warnings(shared.solution);
  return shared;
}

}  // namespace agora::cli

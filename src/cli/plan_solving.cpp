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

std::shared_ptr<SolveChoice> declare_solving(CLI::App& app) {
  auto choice = std::make_shared<SolveChoice>();
  planning::SolveOptions& options = choice->options;
  app.add_option(
      "--method", choice->method,
      fmt::format("{} (default: z, or z-variational if the model is stochastic; modified-pi with "
                  "a discount below 1 and no --mu, or without ends)",
                  fmt::join(planning::method_names(), ", ")));
  app.add_option("--beta", options.beta, "Inverse temperature, 0 to inf")->capture_default_str();
  app.add_option("--mu", options.mu, "Chemical potential (default: -log d - .1)");
  app.add_option("--tolerance", options.tolerance, "Largest error of what is printed")
      ->capture_default_str();
  app.add_option("--max-sweeps", options.max_sweeps, "Give up after so many sweeps")
      ->capture_default_str();
  return choice;
}

planning::Solution SolveChoice::run(const planning::Model& model) const {
  planning::SolveOptions watched = options;
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
  planning::check_options(options);
  const auto shared = planning::solve_distributed(source, load, options);
  print_warnings(shared.solution);
  return shared;
}

}  // namespace agora::cli

#include "cli/plan_solving.h"

#include <fmt/format.h>

#include "planning/solver.h"

namespace agora::cli {

std::shared_ptr<SolveChoice> declare_solving(CLI::App& app) {
  auto choice = std::make_shared<SolveChoice>();
  planning::SolveOptions& options = choice->options;
  app.add_option("--method", choice->method,
                 fmt::format("One of {}", fmt::join(planning::method_names(), ", ")))
      ->capture_default_str();
  app.add_option("--beta", options.beta, "Inverse temperature, 0 to inf")->capture_default_str();
  app.add_option("--mu", options.mu, "Chemical potential (default: -log d - .1)");
  app.add_option("--tolerance", options.tolerance, "Largest error of what is printed")
      ->capture_default_str();
  app.add_option("--max-sweeps", options.max_sweeps, "Give up after so many sweeps")
      ->capture_default_str();
  return choice;
}

planning::Solution SolveChoice::run(const planning::Model& model) const {
  planning::Solution solution = planning::solve(model, method, options);
  for (const std::string& warning : solution.warnings) {
    fmt::print(stderr, "agora: warning: {}\n", warning);
  }
  return solution;
}

}  // namespace agora::cli

#include <fmt/format.h>

#include "cli/kind_options.h"
#include "cli/verb.h"
#include "planning/formats/format.h"
#include "planning/learning/learner.h"
#include "planning/models/builtin.h"
#include "planning/solver.h"

namespace agora::cli::kind_plan_list {
namespace {

void print_json_lists() {
  Json models = Json::array();
  for (const planning::BuiltIn& builtin : planning::builtins()) {
    models.push_back({{"name", builtin.name},
                      {"summary", builtin.summary},
                      {"parameters", parameters_json(builtin.parameters)}});
  }
  Json formats = Json::array();
  for (const planning::Format& format : planning::formats()) {
    formats.push_back({{"name", format.name},
                       {"extensions", format.extensions},
                       {"writes", static_cast<bool>(format.write)},
                       {"summary", format.summary}});
  }
  Json methods = Json::array();
  for (const planning::Solver& solver : planning::solvers()) {
    methods.push_back({{"name", solver.name},
                       {"summary", solver.summary},
                       {"parameters", parameters_json(declared(solver.parameters))}});
  }
  Json learners = Json::array();
  for (const planning::Learner& learner : planning::learners()) {
    learners.push_back({{"name", learner.name},
                        {"summary", learner.summary},
                        {"parameters", parameters_json(declared(learner.parameters))}});
  }
  print_json({{"models", std::move(models)},
              {"formats", std::move(formats)},
              {"methods", std::move(methods)},
              {"learners", std::move(learners)}});
}

void run(const Common& common) {
  if (common.json) return print_json_lists();
  fmt::print("Built-in models (plan solve NAME, or NAME(parameter=value,...))\n");
  for (const planning::BuiltIn& builtin : planning::builtins()) {
    fmt::print("  {:<16} {}\n", builtin.name, builtin.summary);
    print_parameters(builtin.parameters, 16);
  }
  fmt::print("\nFile formats\n");
  for (const planning::Format& format : planning::formats()) {
    fmt::print("  {:<16} {} ({}{})\n", format.name, format.summary,
               fmt::join(format.extensions, " "), format.write ? "; also written" : "");
  }
  fmt::print("\nMethods (plan solve --method NAME)\n");
  for (const planning::Solver& solver : planning::solvers()) {
    fmt::print("  {:<16} {}\n", solver.name, solver.summary);
  }
  fmt::print("\nLearners (plan learn --algorithm NAME)\n");
  for (const planning::Learner& learner : planning::learners()) {
    fmt::print("  {:<16} {}\n", learner.name, learner.summary);
  }
}

}  // namespace

Verb entry_plan_list() {
  return {.name = "plan list",
          .summary = "The built-in models, the file formats, the methods and the learners",
          .example = "agora plan list",
          .declare = [](OptionList&) { return run; }};
}

}  // namespace agora::cli::kind_plan_list

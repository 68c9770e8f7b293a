#include <fmt/format.h>

#include "cli/verb.h"
#include "planning/formats/format.h"
#include "planning/models/builtin.h"
#include "planning/solver.h"

namespace agora::cli {
namespace {

void print_json_lists() {
  Json models = Json::array();
  for (const planning::BuiltIn& builtin : planning::builtins()) {
    Json parameters = Json::object();
    for (const planning::Parameter& parameter : builtin.parameters) {
      parameters[parameter.name] = {{"default", parameter.preset}, {"summary", parameter.summary}};
    }
    models.push_back({{"name", builtin.name},
                      {"summary", builtin.summary},
                      {"parameters", std::move(parameters)}});
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
    methods.push_back({{"name", solver.name}, {"summary", solver.summary}});
  }
  print_json({{"models", std::move(models)},
              {"formats", std::move(formats)},
              {"methods", std::move(methods)}});
}

void run(const Common& common) {
  if (common.json) return print_json_lists();
  fmt::print("Built-in models (plan solve NAME, or NAME(parameter=value,...))\n");
  for (const planning::BuiltIn& builtin : planning::builtins()) {
    fmt::print("  {:<16} {}\n", builtin.name, builtin.summary);
    for (const planning::Parameter& parameter : builtin.parameters) {
      fmt::print("  {:<16}   {}={:.3g}: {}\n", "", parameter.name, parameter.preset,
                 parameter.summary);
    }
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
}

}  // namespace

Verb entry_plan_list() {
  return {.name = "plan list",
          .summary = "The built-in models, the file formats and the methods",
          .example = "agora plan list",
          .declare = [](CLI::App&) { return run; }};
}

}  // namespace agora::cli

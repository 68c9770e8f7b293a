#include <fmt/format.h>

#include "agents/algorithm.h"
#include "cli/kind_options.h"
#include "cli/verb.h"

namespace agora::cli::kind_agent_list {
namespace {

void run(const Common& common) {
  if (common.json) {
    Json environments = Json::array(), algorithms = Json::array();
    for (const agents::EnvironmentKind& kind : agents::environments()) {
      environments.push_back({{"name", kind.name},
                              {"summary", kind.summary},
                              {"forms", kind.forms},
                              {"parameters", parameters_json(kind.parameters)}});
    }
    for (const agents::Algorithm& algorithm : agents::algorithms()) {
      algorithms.push_back({{"name", algorithm.name},
                            {"summary", algorithm.summary},
                            {"parameters", parameters_json(algorithm.parameters)}});
    }
    return print_json(
        {{"environments", std::move(environments)}, {"algorithms", std::move(algorithms)}});
  }
  fmt::print("Environments\n");
  for (const agents::EnvironmentKind& kind : agents::environments()) {
    fmt::print("  {:<12} {}{}\n", kind.name, kind.summary,
               kind.forms.empty() ? "" : fmt::format(" ({})", fmt::join(kind.forms, ", ")));
    print_parameters(kind.parameters, 12);
  }
  fmt::print("\nAlgorithms\n");
  for (const agents::Algorithm& algorithm : agents::algorithms()) {
    fmt::print("  {:<12} {}\n", algorithm.name, algorithm.summary);
    print_parameters(algorithm.parameters, 12);
  }
}

}  // namespace

Verb entry_agent_list() {
  return {.name = "agent list",
          .summary = "Environments and algorithms, with what each can be told",
          .example = "agora agent list",
          .declare = [](OptionList&) { return run; }};
}

}  // namespace agora::cli::kind_agent_list

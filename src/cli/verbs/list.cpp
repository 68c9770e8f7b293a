#include <agora/auctions.h>
#include <fmt/format.h>

#include "auctions/mechanism.h"
#include "cli/verb.h"
#include "planning/formats/format.h"
#include "planning/models/builtin.h"
#include "planning/solver.h"
#include "reproduce/experiment.h"

namespace agora::cli::kind_list {
namespace {

struct Line {
  std::string name, summary;
};
struct Kind {
  std::string name;  // "mechanisms"
  std::vector<Line> lines;
};

template <typename Entry>
Kind kind(std::string name, const std::vector<Entry>& entries) {
  Kind listed{std::move(name), {}};
  for (const Entry& entry : entries) listed.lines.push_back({entry.name, entry.summary});
  return listed;
}

std::vector<Kind> everything() {
  std::vector<Kind> kinds{kind("models", planning::builtins()),
                          kind("formats", planning::formats()),
                          kind("solvers", planning::solvers()),
                          kind("settings", auctions::named_settings()),
                          kind("mechanisms", auctions::mechanisms()),
                          {"environments", {}},
                          {"experiments", {}}};
  for (const reproduce::Experiment& each : reproduce::experiments()) {
    kinds.back().lines.push_back({each.name, each.title});
  }
  return kinds;
}

void run(const Common& common) {
  Json lists;
  for (const Kind& listed : everything()) {
    if (common.json) {
      lists[listed.name] = Json::array();
      for (const Line& line : listed.lines) {
        lists[listed.name].push_back({{"name", line.name}, {"summary", line.summary}});
      }
      continue;
    }
    if (listed.lines.empty()) continue;
    fmt::print("{}\n", listed.name);
    for (const Line& line : listed.lines) fmt::print("  {:<24} {}\n", line.name, line.summary);
    fmt::print("\n");
  }
  if (common.json) print_json(lists);
}

}  // namespace

Verb entry_list() {
  return {.name = "list",
          .summary = "Every model, format, solver, setting, mechanism and experiment, a line each",
          .example = "agora list",
          .declare = [](OptionList&) { return run; }};
}

}  // namespace agora::cli::kind_list

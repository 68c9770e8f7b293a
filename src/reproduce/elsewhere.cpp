#include "reproduce/elsewhere.h"

#include <cmath>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/features.h"
#include "base/installed.h"
#include "base/progress.h"
#include "base/text.h"
#include "report/text.h"
#include "reproduce/runner.h"

namespace agora::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRuns = 10'000;
constexpr size_t kLongestText = 200;

enum class Made { kAgent, kAuction, kExperiment };

Made what_made(const Json& result) {
  return result.contains("algorithm")   ? Made::kAgent
         : result.contains("mechanism") ? Made::kAuction
                                        : Made::kExperiment;
}

double finite(const Json& object, const std::string& key, const std::string& where) {
  const auto value = json_member<double>(object, key, where);
  if (!std::isfinite(value)) throw user_error("{}: '{}' is {}", where, key, value);
  return value;
}

void expect_number_or_null(const Json& object, const std::string& key, const std::string& where) {
  if (!json_member<Json>(object, key, where).is_null()) finite(object, key, where);
}

void expect_count(const Json& object, const std::string& key, const std::string& where) {
  const auto count = json_member<int64_t>(object, key, where);
  if (count < 0) throw user_error("{}: '{}' is {}", where, key, count);
}

void expect_agent(const Json& result, const std::string& where) {
  json_member<std::string>(result, "env", where);
  json_member<std::string>(result, "algorithm", where);
  expect_count(result, "steps", where);
  for (const char* levels : {"train", "test"}) {
    const std::string here = where + ": " + levels;
    const Json earned = json_member<Json>(result, levels, where);
    finite(earned, "mean", here);
    expect_count(earned, "episodes", here);
    if (json_member<std::vector<double>>(earned, "ci95", here).size() != 2) {
      throw user_error("{}: expected two ends in 'ci95'", here);
    }
  }
}

void expect_auction(const Json& result, const std::string& where) {
  json_member<std::string>(result, "mechanism", where);
  json_member<std::string>(result, "setting", where);
  const Json revenue = json_member<Json>(result, "revenue", where);
  finite(revenue, "mean", where + ": revenue");
  finite(revenue, "se", where + ": revenue");
  const Json regret = json_member<Json>(result, "regret", where);
  const Json star = json_member<Json>(result, "p_star", where);
  for (const char* test : {"thesis", "strong"}) {
    const Json found = json_member<Json>(regret, test, where + ": regret");
    if (!found.is_null()) finite(found, "mean", where + ": regret: " + test);
    expect_number_or_null(star, test, where + ": p_star");
  }
}

ElsewhereRun run_of(const Json& told, const std::string& where) {
  ElsewhereRun run{.seed = json_member<uint64_t>(told, "seed", where),
                   .command = json_member<std::string>(told, "command", where),
                   .commit = json_member<std::string>(told, "commit", where),
                   .machine = json_member<std::string>(told, "machine", where),
                   .seconds = finite(told, "seconds", where),
                   .result = json_member<Json>(told, "result", where)};
  if (run.seconds < 0) throw user_error("{}: 'seconds' is {}", where, run.seconds);
  if (!run.result.is_object()) throw user_error("{}: its result is no object", where);
  if (what_made(run.result) == Made::kAgent) expect_agent(run.result, where);
  if (what_made(run.result) == Made::kAuction) expect_auction(run.result, where);
  return run;
}

// Rules count seeds: the same whole experiment twice would be two.
void expect_different_seeds(const std::vector<ElsewhereRun>& runs, const std::string& name) {
  std::set<uint64_t> seeds;
  for (const ElsewhereRun& run : runs) {
    if (what_made(run.result) != Made::kExperiment || seeds.insert(run.seed).second) continue;
    throw user_error("{}: two runs of the whole experiment with seed {}", name, run.seed);
  }
}

std::string interval(const Json& earned) {
  const auto ends = earned.at("ci95").get<std::vector<double>>();
  return fmt::format("{} [{}, {}]", report::readable(earned.at("mean").get<double>()),
                     report::readable(ends[0]), report::readable(ends[1]));
}

// A number of the result, "" where it was not tested.
std::string number_at(const Json& result, const JsonPath& path) {
  const Json* const found = result.find(path);
  return found == nullptr || found->is_null() ? "" : report::readable(found->get<double>());
}

// What a file says, for a terminal.
std::string told(const Json& result, const char* key) {
  return printable(result.text_of(key), kLongestText);
}

std::vector<std::string> agent_cells(const Json& result) {
  return {result.text_of("env"), result.text_of("algorithm"),
          std::to_string(result.at("steps").get<int64_t>()), interval(result.at("train")),
          interval(result.at("test"))};
}

std::vector<std::string> auction_cells(const Json& result) {
  return {result.text_of("mechanism"),
          result.text_of("setting"),
          fmt::format("{} ± {:.2g}", number_at(result, JsonPath("/revenue/mean")),
                      result.at("revenue").at("se").get<double>()),
          number_at(result, JsonPath("/regret/thesis/mean")),
          number_at(result, JsonPath("/regret/strong/mean")),
          number_at(result, JsonPath("/p_star/strong"))};
}

std::vector<std::string> cells_of(const Json& result) {
  switch (what_made(result)) {
    case Made::kAgent:
      return agent_cells(result);
    case Made::kAuction:
      return auction_cells(result);
    case Made::kExperiment:
      break;
  }
  return {"all of it"};
}

report::Table table_of(Made made) {
  report::Table table{.title = "Made elsewhere",
                      .caption = made == Made::kExperiment
                                     ? "Where the numbers above were made."
                                     : "Results of the commands below on other machines, as they "
                                       "were written down there; no rule was applied to them."};
  if (made == Made::kExperiment) {
    table.columns = {{.name = "Experiment"}};
  } else if (made == Made::kAgent) {
    table.columns = {{.name = "Environment"},
                     {.name = "Algorithm"},
                     {.name = "Steps", .numeric = true},
                     {.name = "Training levels [95 %]", .numeric = true},
                     {.name = "Unseen levels [95 %]", .numeric = true}};
  } else {
    table.columns = {{.name = "Mechanism"},
                     {.name = "Setting"},
                     {.name = "Revenue ± standard error", .numeric = true},
                     {.name = "Regret, the thesis's test", .numeric = true},
                     {.name = "Regret, strong test", .numeric = true},
                     {.name = "P*", .numeric = true}};
  }
  for (const char* name : {"Seed", "Time"}) {
    table.columns.push_back({.name = name, .numeric = true});
  }
  for (const char* name : {"Commit", "Machine"}) table.columns.push_back({.name = name});
  return table;
}

}  // namespace

fs::path elsewhere_folder() {
  const char* const named = std::getenv("AGORA_RESULTS");
  if (named != nullptr && *named != '\0') {
    if (!fs::is_directory(named)) throw user_error("AGORA_RESULTS: no folder '{}'", named);
    return named;
  }
  const fs::path beside = installed("results");
  return beside.empty() ? fs::path(AGORA_RESULTS_FOLDER) : beside;
}

Elsewhere read_elsewhere(const fs::path& folder, const std::vector<const Experiment*>& experiments,
                         Scale scale) {
  Elsewhere all;
  for (const Experiment* experiment : experiments) {
    const fs::path file = folder / (experiment->name + ".json");
    if (!fs::exists(file)) continue;
    const std::string name = file.string();
    const Json told = parse_json_file(file);
    if (const auto of = json_member<std::string>(told, "experiment", name);
        of != experiment->name) {
      throw user_error("{}: its experiment is '{}', expected {}", name, printable(of),
                       experiment->name);
    }
    const auto made_at = json_member<std::string>(told, "scale", name);
    if (made_at != "quick" && made_at != "full") {
      throw user_error("{}: its scale is '{}', expected quick or full", name, printable(made_at));
    }
    const auto runs = json_member<std::vector<Json>>(told, "runs", name);
    if (runs.size() > kMostRuns) throw user_error("{}: more than {} runs", name, kMostRuns);
    std::vector<ElsewhereRun> read;
    for (size_t k = 0; k < runs.size(); ++k) {
      read.push_back(run_of(runs[k], fmt::format("{}: run {}", name, k + 1)));
    }
    expect_different_seeds(read, name);
    if (made_at != scale_name(scale) || read.empty()) continue;
    try {
      judge_elsewhere(*experiment, scale, read);
    } catch (const std::exception&) {
      throw user_error("{}: a result is neither a training's nor what {} finds", name,
                       experiment->name);
    }
    all[experiment->name] = std::move(read);
  }
  return all;
}

Judgement judge_elsewhere(const Experiment& experiment, Scale scale,
                          const std::vector<ElsewhereRun>& runs) {
  std::vector<Json> results;
  for (const ElsewhereRun& run : runs) {
    if (what_made(run.result) == Made::kExperiment) results.push_back(run.result);
  }
  return results.empty() ? Judgement() : experiment.judge(scale, results);
}

std::string in_words(const ElsewhereRun& run) {
  const Json& result = run.result;
  if (what_made(result) == Made::kExperiment) return "the whole experiment";
  if (what_made(result) == Made::kAgent) {
    return fmt::format(
        "{}, {}, {} steps: {} on training levels, {} on unseen ones", told(result, "env"),
        told(result, "algorithm"), result.at("steps").get<int64_t>(),
        number_at(result, JsonPath("/train/mean")), number_at(result, JsonPath("/test/mean")));
  }
  std::string words =
      fmt::format("{}, {}: revenue {}", told(result, "mechanism"), told(result, "setting"),
                  number_at(result, JsonPath("/revenue/mean")));
  for (const char* test : {"thesis", "strong"}) {
    const std::string regret = number_at(result, JsonPath("/regret") / std::string(test) / "mean");
    if (!regret.empty()) words += fmt::format(", regret {} ({})", regret, test);
  }
  return words;
}

std::string provenance(const ElsewhereRun& run) {
  return fmt::format("seed {}, commit {}, {}, {}", run.seed, printable(run.commit),
                     printable(run.machine, kLongestText), duration_text(run.seconds));
}

std::vector<report::Block> blocks_of(const std::vector<ElsewhereRun>& runs) {
  std::vector<report::Block> blocks;
  for (const Made made : {Made::kExperiment, Made::kAgent, Made::kAuction}) {
    report::Table table = table_of(made);
    for (const ElsewhereRun& run : runs) {
      if (what_made(run.result) != made) continue;
      report::Row row{.cells = cells_of(run.result)};
      for (const std::string& cell :
           {std::to_string(run.seed), duration_text(run.seconds), run.commit, run.machine}) {
        row.cells.push_back(cell);
      }
      table.rows.push_back(std::move(row));
    }
    if (!table.rows.empty()) blocks.emplace_back(std::move(table));
  }
  std::string commands;
  std::set<std::string> known;
  for (const ElsewhereRun& run : runs) {
    if (known.insert(run.command).second) commands += run.command + "\n";
  }
  if (!runs.empty()) {
    commands.pop_back();
    blocks.emplace_back(report::Code{.text = commands, .label = "Commands, elsewhere"});
  }
  return blocks;
}

Json to_json(const std::vector<ElsewhereRun>& runs) {
  Json all = Json::array();
  for (const ElsewhereRun& run : runs) {
    all.push_back({{"seed", run.seed},
                   {"command", run.command},
                   {"commit", run.commit},
                   {"machine", run.machine},
                   {"seconds", run.seconds},
                   {"result", run.result}});
  }
  return all;
}

}  // namespace agora::reproduce

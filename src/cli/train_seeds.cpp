#include "cli/train_seeds.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "base/child_processes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "base/statistics.h"
#include "base/text.h"
#include "cli/config.h"

namespace agora::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSeeds = 10'000;

using Quantity = SeedsOf::Quantity;

std::optional<double> number(const Json& result, const Quantity& quantity) {
  const Json* found = result.find(quantity.at);
  return found && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

struct Seed {
  uint64_t seed;
  std::string run, out;  // "" where there is none
  Json result = nullptr;
};

std::vector<Seed> plan(const std::string& text, const std::string& run, const std::string& out) {
  std::vector<Seed> seeds;
  for (const uint64_t seed : seeds_named(text)) {
    const std::string name = fmt::format("seed-{}", seed);
    const fs::path file = out;
    const std::string own = file.stem().string() + "-" + name + file.extension().string();
    seeds.push_back({seed, run.empty() ? "" : (fs::path(run) / name).string(),
                     out.empty() ? "" : (file.parent_path() / own).string()});
  }
  return seeds;
}

// What a seed that was finished before left.
void take_finished(Seed& seed) {
  if (seed.run.empty() || !is_run(seed.run)) return;
  const std::optional<Json> result = read_run_result(seed.run);
  if (result && fs::exists(result->text_of("file"))) seed.result = *result;
}

Child child_of(const SeedsOf& what, const Seed& seed, const Common& common, int threads) {
  Json settings = common.settings;
  settings.erase("seeds");
  settings.erase("out");
  settings["seed"] = std::to_string(seed.seed);
  if (!seed.out.empty()) settings["out"] = seed.out;
  Child child{.words = what.verb};
  const auto words = words_of(*verb_named(fmt::format("{}", fmt::join(what.verb, " "))), settings);
  child.words.insert(child.words.end(), words.begin(), words.end());
  child.words.insert(child.words.end(), {"--json", "--threads", std::to_string(threads)});
  if (!seed.run.empty()) child.words.insert(child.words.end(), {"--run", seed.run});
  return child;
}

void show(const std::vector<Child>& children, const std::vector<Seed*>& seeds, int64_t done,
          Progress& progress) {
  std::string note;
  for (size_t k = 0; k < children.size(); ++k) {
    done += children[k].state == Child::State::kEnded;
    if (!note.empty() || children[k].state != Child::State::kRunning) continue;
    note = fmt::format("seed {}: {}", seeds[k]->seed, last_words(children[k]));
  }
  progress.update(done, note);
}

void run_seeds(const SeedsOf& what, std::vector<Seed>& seeds, const Common& common) {
  std::vector<Seed*> left;
  for (Seed& seed : seeds) {
    take_finished(seed);
    if (seed.result.is_null()) left.push_back(&seed);
  }
  const int at_once = std::clamp(static_cast<int>(left.size()), 1, common.threads);
  std::vector<Child> children;
  for (const Seed* seed : left) {
    children.push_back(child_of(what, *seed, common, std::max(1, common.threads / at_once)));
  }
  {
    const auto total = static_cast<int64_t>(seeds.size());
    const int64_t done = total - static_cast<int64_t>(left.size());
    Progress progress("train", total, "seeds", done);
    run_children(children, at_once, [&] { show(children, left, done, progress); });
  }
  std::vector<std::string> written;
  for (size_t k = 0; k < children.size(); ++k) {
    if (children[k].state != Child::State::kEnded || children[k].status != 0) continue;
    left[k]->result = parse_json(children[k].output, fmt::format("seed {}", left[k]->seed));
    written.push_back(left[k]->out);
  }
  if (seeds[0].run.empty() && !written.empty()) {
    note_saved(fmt::format("wrote {}", fmt::join(written, ", ")));
  }
  throw_if_stopped();
  for (size_t k = 0; k < children.size(); ++k) {
    const int status = children[k].status;
    if (status == 0) continue;
    const std::string why = fmt::format("seed {}: {}", left[k]->seed, failure_of(children[k]));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) throw UserError(why);
    throw EndWith(kExperimentFailed, why);
  }
}

Json result_of(const SeedsOf& what, const std::vector<Seed>& seeds, const std::string& run) {
  const Json& first = seeds[0].result;
  Json result = Json::object();
  for (const char* key : {what.heading.first, what.heading.second}) result[key] = first.at(key);
  for (const Seed& seed : seeds) {
    Json one{{"seed", seed.seed}};
    one.update(seed.result);
    result["seeds"].push_back(std::move(one));
  }
  for (const Quantity& quantity : what.quantities) {
    std::vector<double> all;
    for (const Seed& seed : seeds) {
      if (const auto found = number(seed.result, quantity)) all.push_back(*found);
    }
    const Summary summary = summarise(all);
    result["summary"][quantity.key] =
        all.empty() ? Json(nullptr) : Json{{"mean", summary.mean}, {"ci95", summary.half_width95}};
  }
  result["run"] = run.empty() ? Json(nullptr) : Json(run);
  return result;
}

void print(const SeedsOf& what, const Json& result) {
  fmt::print("{} on {}, {} seeds\n  {:<8}", result.at(what.heading.first).get<std::string>(),
             result.at(what.heading.second).get<std::string>(), result.at("seeds").size(), "seed");
  for (const Quantity& quantity : what.quantities) fmt::print("{:<22}", quantity.title);
  fmt::print("file\n");
  for (const Json& one : result.at("seeds")) {
    fmt::print("  {:<8}", one.at("seed").get<uint64_t>());
    for (const Quantity& quantity : what.quantities) {
      const auto found = number(one, quantity);
      fmt::print("{:<22}", found ? fmt::format("{:.6g}", *found) : "-");
    }
    fmt::print("{}\n", one.at("file").get<std::string>());
  }
  std::string line = fmt::format("  {:<8}", "mean");
  for (const Quantity& quantity : what.quantities) {
    const Json& mean = result.at("summary").at(quantity.key);
    const std::string text = mean.is_null()
                                 ? "-"
                                 : fmt::format("{:.6g} ± {:.2g}", mean.at("mean").get<double>(),
                                               mean.at("ci95").get<double>());
    line += fmt::format("{:<22}", text);
  }
  fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
}

}  // namespace

std::vector<uint64_t> seeds_named(const std::string& text) {
  const auto wrong = [&] {
    return user_error("--seeds: expected seeds such as 1-5 or 1,3,7, found '{}'", printable(text));
  };
  const auto whole = [&](std::string_view digits) {
    uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end) throw wrong();
    return value;
  };
  std::vector<uint64_t> seeds;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const uint64_t first = whole(std::string_view(part).substr(0, dash));
    const uint64_t last =
        dash == std::string::npos ? first : whole(std::string_view(part).substr(dash + 1));
    if (last < first) throw wrong();
    if (last - first >= kMostSeeds || seeds.size() + (last - first) >= kMostSeeds) {
      throw user_error("--seeds: expected at most {} seeds", kMostSeeds);
    }
    for (uint64_t k = 0; k <= last - first; ++k) seeds.push_back(first + k);
  }
  if (seeds.empty() || text.ends_with(',')) throw wrong();
  std::set<uint64_t> different;
  for (const uint64_t seed : seeds) {
    if (!different.insert(seed).second) throw user_error("--seeds: seed {} is given twice", seed);
  }
  return seeds;
}

std::vector<uint64_t> seeds_told(const OptionList& app, const std::string& text) {
  if (!app.given("--seeds")) return {};
  if (app.given("--seed")) throw user_error("--seed and --seeds exclude each other");
  return seeds_named(text);
}

void train_seeds(const SeedsOf& what, const std::string& text, const std::string& run,
                 const std::string& out, const Common& common) {
  std::vector<Seed> seeds = plan(text, run, out);
  std::optional<RunFolder> folder;
  if (!run.empty()) {
    Json settings = common.settings;
    settings.erase("seed");  // its place is taken by the seeds
    folder.emplace(RunFolder::open_or_create(run, settings));
    note_saved(fmt::format("every seed is saved, go on with `agora resume {}`", run));
  }
  run_seeds(what, seeds, common);
  const Json result = result_of(what, seeds, run);
  if (folder && !folder->finished()) folder->finish(result);
  common.json ? print_json(result) : print(what, result);
}

}  // namespace agora::cli

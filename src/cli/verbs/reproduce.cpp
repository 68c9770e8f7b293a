#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/build.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/signals.h"
#include "base/text.h"
#include "cli/train_seeds.h"
#include "cli/verb.h"
#include "reproduce/book.h"
#include "reproduce/runner.h"

namespace agora::cli::kind_reproduce {
namespace {

using reproduce::Chapter;
using reproduce::Experiment;
using reproduce::Fate;
using reproduce::Job;
using reproduce::Scale;

struct Options {
  std::vector<std::string> what;
  std::string scale = "quick";
  std::string out = "runs/reproduce";
  std::string seeds;
  std::vector<uint64_t> named;  // by it
  bool fresh = false;
  bool any_build = false;
  bool without_gpu = false;
  bool strict = false;
  std::string task;  // of a child process: the one experiment to run
  std::string run;
  std::string recipe;  // the hash of what it is to run
};

const Experiment& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& each : reproduce::experiments()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw user_error("reproduce: unknown experiment '{}'{}", name, suggestion(name, names));
}

struct Choice {
  std::vector<const Experiment*> run;
  std::vector<const Experiment*> left_out;       // on request, or what they need is not here
  std::vector<const Experiment*> named_without;  // those of them that were asked for by name
};

void sort_by_name(std::vector<const Experiment*>& list) {
  std::sort(list.begin(), list.end(), [](auto* a, auto* b) { return a->name < b->name; });
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// all | chapter N | NAME...
Choice choose(const std::vector<std::string>& what, const reproduce::Order& order) {
  if (what.empty()) throw user_error("reproduce: expected 'list', 'all', 'chapter N' or names");
  Choice chosen;
  const auto take = [&](const Experiment& each) {
    const bool left_out = each.on_request || !missing_here(each, order).empty();
    (left_out ? chosen.left_out : chosen.run).push_back(&each);
  };
  for (size_t i = 0; i < what.size(); ++i) {
    if (what[i] == "all") {
      for (const Experiment& each : reproduce::experiments()) take(each);
    } else if (what[i] == "chapter") {
      const std::string number = i + 1 < what.size() ? what[++i] : "";
      bool any = false;
      for (const Experiment& each : reproduce::experiments()) {
        if (std::to_string(each.chapter) != number) continue;
        any = true;
        take(each);
      }
      if (!any) {
        throw user_error("reproduce: chapter '{}' has no experiments (see agora reproduce list)",
                         number);
      }
    } else {
      const Experiment& named = find_experiment(what[i]);
      const bool lacks = !missing_here(named, order).empty();
      (lacks ? chosen.left_out : chosen.run).push_back(&named);
      if (lacks) chosen.named_without.push_back(&named);
    }
  }
  sort_by_name(chosen.run);
  sort_by_name(chosen.left_out);
  std::erase_if(chosen.left_out, [&](const Experiment* each) {
    return std::find(chosen.run.begin(), chosen.run.end(), each) != chosen.run.end();
  });
  return chosen;
}

void print_list(const Common& common) {
  Json list = Json::array();
  for (const Experiment& each : reproduce::experiments()) {
    if (common.json) {
      list.push_back({{"name", each.name},
                      {"chapter", each.chapter},
                      {"title", each.title},
                      {"source", each.source},
                      {"quick_seconds", each.quick.expected_seconds},
                      {"full_seconds", each.full.expected_seconds},
                      {"full_takes_gpu", each.full.gpu},
                      {"on_request", each.on_request}});
    } else {
      fmt::print("{:<28} quick {:>8}  full {:>8}  {}{}{}\n", each.name,
                 duration_text(each.quick.expected_seconds),
                 duration_text(each.full.expected_seconds), each.title,
                 each.on_request ? " (on request)" : "", each.full.gpu ? " (full: a GPU)" : "");
    }
  }
  if (common.json) print_json(list);
}

void show(const std::vector<Job>& jobs, Progress& progress) {
  int64_t done = 0;
  std::string running;
  for (const Job& job : jobs) {
    done += job.state != Job::State::kWaiting && job.state != Job::State::kRunning;
    if (job.state == Job::State::kRunning) running += fmt::format(" {}", job.experiment->name);
  }
  progress.update(done, running);
}

void print_chapters(const std::vector<Chapter>& chapters) {
  for (const Chapter& chapter : chapters) {
    const std::string word = chapter.fate == Fate::kReproduced  ? "pass"
                             : chapter.fate == Fate::kLooser    ? "looser"
                             : chapter.fate == Fate::kPartly    ? "in part"
                             : chapter.fate == Fate::kNotJudged ? "not judged"
                             : chapter.fate == Fate::kMissed    ? "MISS"
                             : chapter.fate == Fate::kFailed
                                 ? "FAILED"
                                 : std::string(fate_words(chapter.fate));
    fmt::print("{:<10} {:<28} {}\n", word, chapter.experiment->name,
               chapter.why.empty() ? chapter.experiment->title : chapter.why);
    if (const std::string found = elsewhere_in_words(chapter); !found.empty()) {
      fmt::print("{:<10} {:<28} {}\n", "elsewhere", "", found);
    }
    for (const reproduce::ElsewhereRun& run : chapter.elsewhere) {
      fmt::print("{:<10} {:<28} {} ({})\n", "elsewhere", "", in_words(run), provenance(run));
    }
  }
}

// What is not in order goes first: an interrupt, an error, a rule that was missed.
void end(const std::vector<Chapter>& chapters, bool strict) {
  note_saved("what was done is kept, the same command goes on");
  throw_if_stopped();
  const auto names = [&](Fate fate) {
    std::vector<std::string> all;
    for (const Chapter& each : chapters) {
      const bool left_out = each.jobs.empty();
      if (each.fate == fate && !left_out) all.push_back(each.experiment->name);
    }
    return all;
  };
  for (const Fate fate : {Fate::kFailed, Fate::kNotRun}) {
    if (const auto those = names(fate); !those.empty()) {
      throw EndWith(kExperimentFailed,
                    fmt::format("reproduce: {}: {}", fate_words(fate), fmt::join(those, ", ")));
    }
  }
  if (const auto missed = names(Fate::kMissed); strict && !missed.empty()) {
    throw EndWith(kRuleMissed, fmt::format("reproduce: missed: {}", fmt::join(missed, ", ")));
  }
}

// Read before anything runs, so that a wrong file is told at once. What was asked for by name has
// something to show, or cannot be had.
reproduce::Elsewhere made_elsewhere(const Choice& chosen, const reproduce::Order& order) {
  std::vector<const Experiment*> all = chosen.run;
  all.insert(all.end(), chosen.left_out.begin(), chosen.left_out.end());
  const auto folder = reproduce::elsewhere_folder();
  reproduce::Elsewhere elsewhere = read_elsewhere(folder, all, order.scale);
  for (const Experiment* each : chosen.named_without) {
    if (elsewhere.contains(each->name)) continue;
    throw user_error("reproduce: {}: {}", each->name, missing_here(*each, order));
  }
  return elsewhere;
}

void reproduce_all(const Options& options, Scale scale, const Common& common) {
  const reproduce::Order order{.scale = scale,
                               .seed = common.seed,
                               .seeds = options.named,
                               .out = options.out,
                               .threads = common.threads,
                               .fresh = options.fresh,
                               .any_build = options.any_build,
                               .without_gpu = options.without_gpu};
  const Choice chosen = choose(options.what, order);
  const reproduce::Elsewhere elsewhere = made_elsewhere(chosen, order);
  std::vector<Job> jobs = plan_jobs(chosen.run, order);
  {
    Progress progress("reproduce", static_cast<int64_t>(jobs.size()), "runs");
    run_jobs(jobs, order, [&](const std::vector<Job>& now) { show(now, progress); });
  }
  const auto chapters = judge(jobs, order, chosen.left_out, elsewhere);
  const auto report =
      std::filesystem::absolute(order.out / fmt::format("report-{}.html", options.scale));
  write_report(report, chapters, order);
  write_pictures(order.out / options.scale / "pictures", chapters);
  auto result = to_json(chapters, scale);
  result["report"] = report.string();
  write_json(order.out / fmt::format("results-{}.json", options.scale), result);
  if (common.json) {
    print_json(result);
  } else {
    print_chapters(chapters);
    fmt::print("{}\nreport: {}\n", in_words(chapters), report.string());
  }
  std::fflush(stdout);
  end(chapters, options.strict);
}

// A run begun by hand has no hash yet; one that goes on brings the hash of its beginning.
void run_alone(const Options& options, Scale scale, const Common& common) {
  const Experiment& experiment = find_experiment(options.task);
  Json settings = common.settings;
  if (options.recipe.empty()) {
    settings["recipe"] = recipe_hash(experiment, scale, common.seed, build_id());
  }
  run_task(experiment, scale, common.seed, options.run, settings);
}

void run(const Options& options, const Common& common) {
  const Scale scale = options.scale == "quick" ? Scale::kQuick : Scale::kFull;
  if (!options.task.empty()) {
    if (options.run.empty()) throw user_error("reproduce: --task needs --run");
    if (!options.named.empty()) throw user_error("reproduce: --task takes --seed, not --seeds");
    run_alone(options, scale, common);
  } else if (!options.run.empty()) {
    throw user_error("reproduce: --run needs --task");
  } else if (options.what == std::vector<std::string>{"list"}) {
    print_list(common);
  } else {
    reproduce_all(options, scale, common);
  }
}

}  // namespace

Verb entry_reproduce() {
  return {.name = "reproduce",
          .summary = "Regenerate the thesis's tables and figures beside the printed values",
          .example = "agora reproduce ch1-optimal-auction --scale quick",
          .takes_device = true,
          .declare = [](OptionList& app) {
            auto options = std::make_shared<Options>();
            std::vector<std::string> names{"list", "all", "chapter"};
            for (const Experiment& each : reproduce::experiments()) names.push_back(each.name);
            app.add("what", options->what, "list, all, chapter N, or names of experiments")
                .offers(names, false);
            app.add("--scale", options->scale,
                    "quick: minutes on a laptop; full: the thesis's sizes")
                .check(one_of({"quick", "full"}))
                .shows_default();
            app.add("--out", options->out, "Folder of the runs and the report").shows_default();
            app.add("--seeds", options->seeds, "In place of the listed ones: 2, or 1-5");
            app.flag("--fresh", options->fresh, "Run again what is finished");
            app.flag("--any-build", options->any_build,
                     "Judge results of other builds too, instead of running those again");
            app.flag("--without-gpu", options->without_gpu,
                     "Run at full scale, for weeks, what takes a GPU");
            app.flag("--strict", options->strict, "End with status 3 if a rule is missed");
            app.add("--task", options->task, "Run one experiment here, as one run").hidden();
            app.add("--run", options->run, "The run folder of --task").hidden();
            app.add("--recipe", options->recipe, "The hash of what --task runs").hidden();
            return [options, &app](const Common& common) {
              options->named = seeds_told(app, options->seeds);
              run(*options, common);
            };
          }};
}

}  // namespace agora::cli::kind_reproduce

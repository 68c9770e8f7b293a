#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/progress.h"
#include "cli/verb.h"
#include "reproduce/book.h"
#include "reproduce/runner.h"

namespace agora::cli {
namespace {

using reproduce::Experiment;
using reproduce::Job;
using reproduce::Scale;

struct Options {
  std::vector<std::string> what;
  std::string scale = "quick";
  std::string out = "runs/reproduce";
  bool fresh = false;
  std::string task;  // of a child process: the one experiment to run
  std::string run;
};

const Experiment& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& each : reproduce::experiments()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw user_error("reproduce: unknown experiment '{}'{}", name, suggestion(name, names));
}

// all | chapter N | NAME...
std::vector<const Experiment*> choose(const std::vector<std::string>& what) {
  std::vector<const Experiment*> chosen;
  if (what.empty()) throw user_error("reproduce: expected 'list', 'all', 'chapter N' or names");
  for (size_t i = 0; i < what.size(); ++i) {
    if (what[i] == "all") {
      for (const Experiment& each : reproduce::experiments()) {
        if (!each.on_request) chosen.push_back(&each);
      }
    } else if (what[i] == "chapter") {
      const std::string number = i + 1 < what.size() ? what[++i] : "";
      const size_t before = chosen.size();
      for (const Experiment& each : reproduce::experiments()) {
        if (std::to_string(each.chapter) == number && !each.on_request) chosen.push_back(&each);
      }
      if (chosen.size() == before) {
        throw user_error("reproduce: chapter '{}' has no experiments (see agora reproduce list)",
                         number);
      }
    } else {
      chosen.push_back(&find_experiment(what[i]));
    }
  }
  std::sort(chosen.begin(), chosen.end(), [](auto* a, auto* b) { return a->name < b->name; });
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

void print_list(const Common& common) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Experiment& each : reproduce::experiments()) {
    if (common.json) {
      list.push_back({{"name", each.name},
                      {"chapter", each.chapter},
                      {"title", each.title},
                      {"source", each.source},
                      {"quick_seconds", each.quick.expected_seconds},
                      {"full_seconds", each.full.expected_seconds},
                      {"on_request", each.on_request}});
    } else {
      fmt::print("{:<28} quick {:>8}  full {:>8}  {}{}\n", each.name,
                 duration_text(each.quick.expected_seconds),
                 duration_text(each.full.expected_seconds), each.title,
                 each.on_request ? " (on request)" : "");
    }
  }
  if (common.json) print_json(list);
}

void show(const std::vector<Job>& jobs, Progress& progress) {
  int64_t done = 0;
  std::string running;
  for (const Job& job : jobs) {
    done += job.state == Job::State::kDone || job.state == Job::State::kFailed;
    if (job.state == Job::State::kRunning) running += fmt::format(" {}", job.experiment->name);
  }
  progress.update(done, running);
}

void reproduce_all(const Options& options, Scale scale, const Common& common) {
  const reproduce::Order order{.scale = scale,
                               .seed = common.seed,
                               .out = options.out,
                               .threads = common.threads,
                               .fresh = options.fresh};
  std::vector<Job> jobs = plan_jobs(choose(options.what), order);
  {
    Progress progress("reproduce", static_cast<int64_t>(jobs.size()), "runs");
    run_jobs(jobs, order, [&](const std::vector<Job>& now) { show(now, progress); });
  }
  const auto chapters = judge(jobs, scale);
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
    for (const auto& chapter : chapters) {
      fmt::print("{:<5} {:<28} {}\n",
                 !chapter.ran()         ? "ERROR"
                 : chapter.reproduced() ? "pass"
                                        : "MISS",
                 chapter.experiment->name,
                 chapter.ran() ? chapter.experiment->title : chapter.failure);
    }
    fmt::print("{} reproduced, {} missed, {} not run\nreport: {}\n",
               result["reproduced"].get<int>(), result["missed"].get<int>(),
               result["failed"].get<int>(), report.string());
  }
  if (result["failed"].get<int>() > 0) throw Error("some experiments did not run to their end");
}

void run(const Options& options, const Common& common) {
  const Scale scale = options.scale == "quick" ? Scale::kQuick : Scale::kFull;
  if (!options.task.empty()) {
    if (options.run.empty()) throw user_error("reproduce: --task needs --run");
    run_task(find_experiment(options.task), scale, common.seed, options.run, common.settings);
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
  return {
      .name = "reproduce",
      .summary = "Regenerate the thesis's tables and figures beside the printed values",
      .example = "agora reproduce ch1-optimal-auction --scale quick",
      .declare = [](CLI::App& app) {
        auto options = std::make_shared<Options>();
        app.add_option("what", options->what, "list, all, chapter N, or names of experiments");
        app.add_option("--scale", options->scale,
                       "quick: minutes on a laptop; full: the thesis's sizes")
            ->check(CLI::IsMember({"quick", "full"}))
            ->capture_default_str();
        app.add_option("--out", options->out, "Folder of the runs and the report")
            ->capture_default_str();
        app.add_flag("--fresh", options->fresh, "Run again what is finished");
        app.add_option("--task", options->task, "Run one experiment here, as one run")->group("");
        app.add_option("--run", options->run, "The run folder of --task")->group("");
        return [options](const Common& common) { run(*options, common); };
      }};
}

}  // namespace agora::cli

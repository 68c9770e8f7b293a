#include "reproduce/runner.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/build.h"
#include "base/child_processes.h"
#include "base/error.h"
#include "base/features.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "compute/device.h"

namespace agora::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestWait{10};  // for the children of a reproduce that was killed

// Its messages go to the job's log, its result to the run folder.
Child child_of(const Job& job, const Order& order, int threads) {
  return {.words = {"reproduce", "--task", job.experiment->name,                  //
                    "--scale", scale_name(order.scale),                           //
                    "--seed", std::to_string(job.seed),                           //
                    "--threads", std::to_string(threads),                         //
                    "--device", compute::device_name(compute::default_device()),  //
                    "--run", job.folder.string(),                                 //
                    "--recipe", recipe_hash(*job.experiment, order.scale, job.seed, build_id())},
          .log = job.log};
}

void settle(Job& job, const Order& order, const Child& child) {
  const int status = child.status;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !finished_result(job, order).is_null()) {
    job.state = Job::State::kDone;
    return;
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
  const bool asked = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  job.state = asked ? Job::State::kStopped : Job::State::kFailed;
  job.failure = failure_of(child);
}

// A parent that was killed may have children that are still ending.
void wait_until_free(const fs::path& folder) {
  const auto until = std::chrono::steady_clock::now() + kLongestWait;
  while (const auto holder = process_in(folder)) {
    throw_if_stopped();
    if (std::chrono::steady_clock::now() > until) {
      throw user_error("{} is in use by process {}", folder.string(), *holder);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// What is in the folder of a job that has to run: the beginning of the same run may stay.
void clear(const fs::path& folder, const std::string& recipe, bool fresh) {
  const fs::path aside = folder.string() + ".old";
  fs::remove_all(aside);
  if (!is_run(folder)) return;
  wait_until_free(folder);
  const bool begun =
      read_run_settings(folder).text_of("recipe") == recipe && !fs::exists(folder / "result.json");
  if (begun && !fresh) return;
  fs::rename(folder, aside);  // one step: a folder that is half removed is no run
  fs::remove_all(aside);
}

std::vector<uint64_t> seeds_of(const Experiment& experiment, const Order& order) {
  std::vector<uint64_t> seeds = configuration_of(experiment, order.scale).seeds;
  for (uint64_t& each : seeds) each += order.seed;
  return order.seeds.empty() ? seeds : order.seeds;
}

}  // namespace

std::string scale_name(Scale scale) { return scale == Scale::kQuick ? "quick" : "full"; }

const Configuration& configuration_of(const Experiment& experiment, Scale scale) {
  return scale == Scale::kQuick ? experiment.quick : experiment.full;
}

std::string missing_here(const Experiment& experiment, const Order& order) {
  const Configuration& configuration = configuration_of(experiment, order.scale);
  if (configuration.gpu && !order.without_gpu &&
      compute::default_device() == compute::Device::kCpu) {
    return fmt::format(
        "{} scale takes a GPU: `--device cuda` runs it there, `--without-gpu` here in about {}",
        scale_name(order.scale), duration_text(configuration.expected_seconds));
  }
  return experiment.missing(order.scale);
}

std::string recipe_hash(const Experiment& experiment, Scale scale, uint64_t seed,
                        std::string_view build) {
  // A letter first, so that config.toml keeps it as text.
  return "r" + Hash()
                   .part(experiment.name)
                   .part(configuration_of(experiment, scale).words)
                   .part(scale_name(scale))
                   .part(std::to_string(seed))
                   .part(build)
                   .part(compute::device_name(compute::default_device()))
                   .hex();
}

Json finished_result(const Job& job, const Order& order) {
  const auto result = is_run(job.folder) ? read_run_result(job.folder) : std::nullopt;
  if (!result || !result->is_object()) return nullptr;
  const std::string build = order.any_build ? result->text_of("build") : build_id();
  const std::string wanted = recipe_hash(*job.experiment, order.scale, job.seed, build);
  if (result->text_of("recipe") != wanted) return nullptr;
  return *result;
}

std::vector<Job> plan_jobs(const std::vector<const Experiment*>& chosen, const Order& order) {
  const fs::path root = order.out / scale_name(order.scale);
  make_folder(root);
  std::vector<Job> jobs;
  for (const Experiment* experiment : chosen) {
    for (const uint64_t seed : seeds_of(*experiment, order)) {
      const std::string name = fmt::format("{}-seed-{}", experiment->name, seed);
      Job job{.experiment = experiment,
              .seed = seed,
              .folder = root / name,
              .log = root / (name + ".log")};
      if (!order.fresh && !finished_result(job, order).is_null()) {
        job.state = Job::State::kDone;
        job.reused = true;
      } else {
        clear(job.folder, recipe_hash(*experiment, order.scale, seed, build_id()), order.fresh);
      }
      jobs.push_back(std::move(job));
    }
  }
  const auto expected = [&](const Job& job) {
    const Configuration& configuration = configuration_of(*job.experiment, order.scale);
    return configuration.expected_seconds / static_cast<double>(configuration.seeds.size());
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return expected(a) > expected(b); });
  return jobs;
}

void run_jobs(std::vector<Job>& jobs, const Order& order,
              const std::function<void(const std::vector<Job>&)>& watch) {
  std::vector<Job*> waiting;
  for (Job& job : jobs) {
    if (job.state == Job::State::kWaiting) waiting.push_back(&job);
  }
  // Threads go to as many jobs as there are; few jobs get several threads each.
  const int slots = std::clamp(static_cast<int>(waiting.size()), 1, order.threads);
  std::vector<Child> children;
  children.reserve(waiting.size());
  for (const Job* job : waiting) {
    children.push_back(child_of(*job, order, std::max(1, order.threads / slots)));
  }
  run_children(children, slots, [&] {
    for (size_t k = 0; k < children.size(); ++k) {
      Job& job = *waiting[k];
      const Child::State state = children[k].state;
      if (job.state == Job::State::kWaiting && state != Child::State::kWaiting) {
        job.state = Job::State::kRunning;
      }
      if (job.state == Job::State::kRunning && state == Child::State::kEnded) {
        settle(job, order, children[k]);
      }
    }
    watch(jobs);
  });
}

void run_task(const Experiment& experiment, Scale scale, uint64_t seed, const fs::path& path,
              const Json& settings) {
  const std::string recipe = recipe_hash(experiment, scale, seed, build_id());
  if (settings.at("recipe") != recipe) {
    throw user_error(
        "{}: begun by another build of agora; `agora reproduce {} --fresh` begins anew",
        path.string(), experiment.name);
  }
  RunFolder folder = RunFolder::open_or_create(path, settings);
  if (folder.finished()) return;
  const auto begin = std::chrono::steady_clock::now();
  Task task{.scale = scale, .seed = seed, .folder = folder};
  Json values = experiment.run(task);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  folder.finish({{"experiment", experiment.name},
                 {"scale", scale_name(scale)},
                 {"seed", seed},
                 {"recipe", recipe},
                 {"build", build_id()},
                 {"version", AGORA_VERSION},
                 {"commit", build_commit()},
                 {"seconds", seconds},
                 {"values", std::move(values)}});
}

}  // namespace agora::reproduce

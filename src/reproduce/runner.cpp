#include "reproduce/runner.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "base/commit.h"
#include "base/error.h"
#include "base/features.h"
#include "base/files.h"
#include "base/json.h"
#include "base/run_folder.h"
#include "base/signals.h"

namespace agora::reproduce {
namespace {

namespace fs = std::filesystem;

// The child writes its messages to the job's log; its result goes to the run folder.
pid_t start(const Job& job, const Order& order, int threads) {
  const std::vector<std::string> words{"agora",     "reproduce",
                                       "--task",    job.experiment->name,
                                       "--scale",   scale_name(order.scale),
                                       "--seed",    std::to_string(job.seed),
                                       "--threads", std::to_string(threads),
                                       "--run",     job.folder.string()};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, job.log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  CHECK(error == 0, "a process cannot be started: {}", std::strerror(error));
  return child;
}

std::string last_line(const fs::path& file) {
  std::string text = fs::exists(file) ? read_file(file) : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

void settle(Job& job, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !finished_result(job.folder).is_null()) {
    job.state = Job::State::kDone;
    return;
  }
  job.state = Job::State::kFailed;
  job.failure = last_line(job.log);
  if (job.failure.empty()) {
    job.failure = WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                                      : fmt::format("ended with status {}", WEXITSTATUS(status));
  }
}

}  // namespace

std::string scale_name(Scale scale) { return scale == Scale::kQuick ? "quick" : "full"; }

Json finished_result(const fs::path& folder) {
  const std::optional<Json> result = is_run(folder) ? read_run_result(folder) : std::nullopt;
  if (!result || !result->is_object() || result->value("version", "") != AGORA_VERSION)
    return nullptr;
  return *result;
}

std::vector<Job> plan_jobs(const std::vector<const Experiment*>& chosen, const Order& order) {
  const fs::path root = order.out / scale_name(order.scale);
  make_folder(root);
  std::vector<Job> jobs;
  for (const Experiment* experiment : chosen) {
    const Configuration& configuration =
        order.scale == Scale::kQuick ? experiment->quick : experiment->full;
    for (uint64_t listed : configuration.seeds) {
      const uint64_t seed = listed + order.seed;
      const std::string name = fmt::format("{}-seed-{}", experiment->name, seed);
      Job job{.experiment = experiment,
              .seed = seed,
              .folder = root / name,
              .log = root / (name + ".log")};
      if (order.fresh) fs::remove_all(job.folder);
      if (!finished_result(job.folder).is_null()) {
        job.state = Job::State::kDone;
        job.reused = true;
      } else if (fs::exists(job.folder / "result.json")) {
        fs::remove_all(job.folder);  // a result of another version
      }
      jobs.push_back(std::move(job));
    }
  }
  const auto expected = [&](const Job& job) {
    const Configuration& configuration =
        order.scale == Scale::kQuick ? job.experiment->quick : job.experiment->full;
    return configuration.expected_seconds / static_cast<double>(configuration.seeds.size());
  };
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return expected(a) > expected(b); });
  return jobs;
}

void run_jobs(std::vector<Job>& jobs, const Order& order,
              const std::function<void(const std::vector<Job>&)>& watch) {
  std::map<pid_t, Job*> running;
  const auto waiting = [&] {
    return static_cast<int>(std::count_if(jobs.begin(), jobs.end(), [](const Job& job) {
      return job.state == Job::State::kWaiting;
    }));
  };
  // Threads go to as many jobs as there are; few jobs get several threads each.
  const int slots = std::clamp(waiting(), 1, order.threads);
  bool stopping = false;
  while (waiting() > 0 || !running.empty()) {
    if (stop_requested() && !stopping) {
      stopping = true;
      for (const auto& [child, job] : running) kill(child, SIGTERM);
    }
    for (Job& job : jobs) {
      if (stopping || static_cast<int>(running.size()) >= slots) break;
      if (job.state != Job::State::kWaiting) continue;
      running[start(job, order, std::max(1, order.threads / slots))] = &job;
      job.state = Job::State::kRunning;
    }
    int status = 0;
    if (const pid_t child = waitpid(-1, &status, WNOHANG); child > 0 && running.contains(child)) {
      settle(*running[child], status);
      running.erase(child);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    watch(jobs);
    if (stopping && running.empty()) break;
  }
  note_saved("what was done is kept, the same command goes on");
  throw_if_stopped();
}

void run_task(const Experiment& experiment, Scale scale, uint64_t seed, const fs::path& path,
              const Json& settings) {
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
                 {"version", AGORA_VERSION},
                 {"commit", AGORA_COMMIT},
                 {"seconds", seconds},
                 {"values", std::move(values)}});
}

}  // namespace agora::reproduce

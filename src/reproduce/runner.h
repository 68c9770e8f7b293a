#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reproduce/experiment.h"

namespace agora::reproduce {

std::string scale_name(Scale scale);  // "quick", "full"

// One run of one experiment and what became of it.
struct Job {
  const Experiment* experiment;
  uint64_t seed;
  std::filesystem::path folder;  // its run folder
  std::filesystem::path log;     // what it said
  enum class State { kWaiting, kRunning, kDone, kFailed } state = State::kWaiting;
  bool reused = false;  // was finished before
  std::string failure = {};
};

struct Order {
  Scale scale = Scale::kQuick;
  uint64_t seed = 0;  // added to every seed of a configuration
  std::filesystem::path out;
  int threads = 1;
  bool fresh = false;  // run finished ones again
};

// The jobs of the experiments, longest first; those with a result of this version are done.
std::vector<Job> plan_jobs(const std::vector<const Experiment*>& chosen, const Order& order);

// Runs the waiting jobs as processes of their own (`agora reproduce --task ...`), as many at a time
// as there are threads; `watch` is called about ten times a second. An interrupt stops the
// children, which save, and throws Interrupted.
void run_jobs(std::vector<Job>& jobs, const Order& order,
              const std::function<void(const std::vector<Job>&)>& watch);

// What such a process does.
void run_task(const Experiment& experiment, Scale scale, uint64_t seed,
              const std::filesystem::path& folder, const Json& settings);

// The result of a finished run folder of this version, or null.
Json finished_result(const std::filesystem::path& folder);

}  // namespace agora::reproduce

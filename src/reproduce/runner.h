#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reproduce/experiment.h"

namespace agora::reproduce {

std::string scale_name(Scale scale);  // "quick", "full"

const Configuration& configuration_of(const Experiment& experiment, Scale scale);

struct Order {
  Scale scale = Scale::kQuick;
  uint64_t seed = 0;                 // added to every seed of a configuration
  std::vector<uint64_t> seeds = {};  // in place of a configuration's, if there are any
  std::filesystem::path out;
  int threads = 1;
  bool fresh = false;        // run finished ones again
  bool any_build = false;    // take the results of other builds too
  bool without_gpu = false;  // run what takes one all the same
};

// Why it cannot run here, and what changes that; "" if it can.
std::string missing_here(const Experiment& experiment, const Order& order);

// Runs with the same hash have the same result: experiment, configuration, scale, seed, build and
// the default device.
std::string recipe_hash(const Experiment& experiment, Scale scale, uint64_t seed,
                        std::string_view build);

// One run of one experiment and what became of it.
struct Job {
  const Experiment* experiment;
  uint64_t seed;
  std::filesystem::path folder;  // its run folder
  std::filesystem::path log;     // what it said
  enum class State { kWaiting, kRunning, kDone, kFailed, kStopped } state = State::kWaiting;
  bool reused = false;       // was finished before
  std::string failure = {};  // why it is not done, in one line
};

// The jobs of the experiments, longest first; those with a result are done. What another recipe or
// build left in a job's folder is removed; a folder in use is waited for, a few seconds at most.
std::vector<Job> plan_jobs(const std::vector<const Experiment*>& chosen, const Order& order);

// Runs the waiting jobs as processes of their own (`agora reproduce --task ...`), as many at a time
// as there are threads, by run_children (`base/child_processes.h`).
void run_jobs(std::vector<Job>& jobs, const Order& order,
              const std::function<void(const std::vector<Job>&)>& watch);

// What such a process does. settings: what the run's config.toml says, with the "recipe" hash.
void run_task(const Experiment& experiment, Scale scale, uint64_t seed,
              const std::filesystem::path& folder, const Json& settings);

// The result of a job if it is finished and of this recipe (and build, unless any will do), or
// null.
Json finished_result(const Job& job, const Order& order);

}  // namespace agora::reproduce

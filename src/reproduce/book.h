#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/runner.h"

namespace agora::reproduce {

// An experiment with what its runs found.
struct Chapter {
  const Experiment* experiment = nullptr;
  Outcome outcome = {};
  std::vector<Job> jobs = {};
  std::string failure = {};  // why there is no outcome
  double seconds = 0;        // of all its runs
  std::vector<std::string> commits = {};

  bool ran() const { return failure.empty(); }
  bool reproduced() const;
};

// Judges every experiment whose runs are done; in the order of their names.
std::vector<Chapter> judge(const std::vector<Job>& jobs, Scale scale);

// {"scale", "reproduced", "missed", "failed", "experiments": [...]}
Json to_json(const std::vector<Chapter>& chapters, Scale scale);

// The report: a summary, then per experiment the published numbers beside ours.
void write_report(const std::filesystem::path& file, const std::vector<Chapter>& chapters,
                  const Order& order);

// Every chart as a picture of its own, NAME-1.svg, NAME-2.svg, ...
void write_pictures(const std::filesystem::path& folder, const std::vector<Chapter>& chapters);

}  // namespace agora::reproduce

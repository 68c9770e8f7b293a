#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/elsewhere.h"
#include "reproduce/runner.h"

namespace agora::reproduce {

enum class Fate {
  kReproduced,
  kLooser,     // quick scale: every rule holds, some by its looser form alone
  kPartly,     // quick scale: what is judged holds, but some findings are not judged
  kNotJudged,  // quick scale: none is
  kMissed,     // a rule does not hold
  kFailed,     // it ended in an error, or its results cannot be judged
  kOnRequest,  // left out: it has to be asked for by name
  kNotRun,     // interrupted, or it lacks something here
};
inline constexpr Fate kFates[] = {Fate::kReproduced, Fate::kLooser, Fate::kPartly,
                                  Fate::kNotJudged,  Fate::kMissed, Fate::kFailed,
                                  Fate::kOnRequest,  Fate::kNotRun};
std::string_view fate_words(Fate fate);  // "on request"

// An experiment with what its runs found.
struct Chapter {
  const Experiment* experiment = nullptr;
  Fate fate = Fate::kNotRun;
  Judgement outcome = {};
  std::vector<Job> jobs = {};
  std::string why = {};  // there is no outcome, or the first finding that is not reproduced
  double seconds = 0;    // of all its runs
  std::vector<std::string> commits = {};
  bool other_build = false;  // some result is of another build
  std::vector<ElsewhereRun> elsewhere = {};
  Judgement elsewhere_outcome = {};  // of those that are the whole experiment
};

// Judges every experiment whose runs are done; in the order of their names, with those left out
// because they are on request or lack something here. What was made elsewhere is added.
std::vector<Chapter> judge(const std::vector<Job>& jobs, const Order& order,
                           const std::vector<const Experiment*>& left_out = {},
                           const Elsewhere& elsewhere = {});

// "3 of 4 rules hold; WHAT: 1.5, expected ≥ 2", of what was made elsewhere.
std::string elsewhere_in_words(const Chapter& chapter);

int count(const std::vector<Chapter>& chapters, Fate fate);
// "12 reproduced, 6 hold looser than published, 0 missed, 1 failed, 1 on request"; those that hold
// looser, are judged in part, not judged or not run only where there is one.
std::string in_words(const std::vector<Chapter>& chapters);

// {"scale", "reproduced", "looser", "partly_judged", "not_judged", "missed", "failed",
// "on_request", "not_run",
//  "experiments": [...]}, of each "reproduced": false if missed or failed, null if not decided, and
// "elsewhere": the runs that were made there, and "elsewhere_findings" by the rules.
Json to_json(const std::vector<Chapter>& chapters, Scale scale);

// The report: a summary, then per experiment the published numbers beside ours.
void write_report(const std::filesystem::path& file, const std::vector<Chapter>& chapters,
                  const Order& order);

// Every chart as a picture of its own, NAME-1.svg, NAME-2.svg, ...
void write_pictures(const std::filesystem::path& folder, const std::vector<Chapter>& chapters);

}  // namespace agora::reproduce

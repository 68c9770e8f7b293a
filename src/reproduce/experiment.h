#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "report/chart.h"

namespace agora {
class RunFolder;  // base/run_folder.h
}

namespace agora::reproduce {

enum class Scale { kQuick, kFull };

// One run: one experiment at one scale with one seed, in a run folder of its own. Long runs save
// to the folder now and then, look there first, and call throw_if_stopped() in between.
struct Task {
  Scale scale;
  uint64_t seed;
  RunFolder& folder;
  bool quick() const { return scale == Scale::kQuick; }
};

// When a number counts as reproduced; `words` is what the report prints.
struct Rule {
  std::string words;
  std::function<bool(double)> holds;
};
Rule within(double target, double tolerance);
Rule between(double low, double high);
Rule at_least(double bound);
Rule at_most(double bound);

enum class Verdict {
  kReproduced,
  kLooser,     // quick scale: it holds by the looser rule alone
  kNotJudged,  // shown only: quick scale cannot tell
  kMissed,
};
std::string_view verdict_words(Verdict verdict);  // "holds, looser than published"

// One line of an experiment's table: the published value beside ours.
struct Finding {
  std::string what;
  std::string published;             // as printed in the thesis, "" where it gives none
  double ours = 0;                   // mean over the seeds; NaN: there is none
  std::optional<double> half_width;  // of the 95 % interval of that mean, from two seeds on
  std::vector<double> seeds;         // ours, one by one
  std::string rule;                  // why there is none, if it is not judged
  Verdict verdict = Verdict::kMissed;
};
// A rule has to hold for every seed.
Finding finding(std::string what, std::string published, const std::vector<double>& ours,
                const Rule& rule);
// At quick scale fewer iterations have to reach `looser` only.
Finding finding(Scale scale, std::string what, std::string published,
                const std::vector<double>& ours, const Rule& rule, const Rule& looser);
Finding not_judged(std::string what, std::string published, const std::vector<double>& ours,
                   std::string why);

struct Judgement {
  std::vector<Finding> findings;
  std::vector<report::Chart> charts;
  std::string remark;  // what a reader should know: errata, the size of the run, why a miss
};

struct Configuration {
  std::vector<uint64_t> seeds;
  double expected_seconds = 0;  // all seeds together, on 2 cores
  std::string words;            // "10^5 profiles", for the report
  bool gpu = false;             // without one it would take weeks
};

// One table or figure of the thesis; one file of experiments/, whose `Experiment entry_STEM()`
// fills this and whose stem is its name.
struct Experiment {
  std::string name;  // "ch2-decision-tree"
  int chapter = 0;
  std::string title;   // one line
  std::string source;  // where the thesis has it
  Configuration quick;
  Configuration full;
  bool on_request = false;  // not among `all`: runs only when named
  // Why it cannot run here, and the command that changes that; "" if it can.
  std::function<std::string(Scale)> missing = [](Scale) { return std::string(); };
  std::function<Json(Task&)> run;  // its result is kept as the run's result.json
  std::function<Judgement(Scale, const std::vector<Json>& results)> judge;  // one result per seed
};

// Every experiment, in the order of their names (generated).
const std::vector<Experiment>& experiments();

}  // namespace agora::reproduce

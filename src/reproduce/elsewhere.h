#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "report/html.h"
#include "reproduce/experiment.h"

// Results that were made on another machine, for what takes too long on this one. They are shown
// beside what is run here, with where they come from. Those of a whole experiment are judged by
// its rules, single trainings by nobody.
namespace agora::reproduce {

struct ElsewhereRun {
  uint64_t seed = 0;
  std::string command, commit, machine;
  double seconds = 0;
  // Of `agora agent train --json` or `agora auction audit --json`, or what the experiment found.
  Json result;
};
using Elsewhere = std::map<std::string, std::vector<ElsewhereRun>>;  // by experiment

// Where they are kept, NAME.json each: what AGORA_RESULTS names, else what was installed with the
// program, else the source's.
std::filesystem::path elsewhere_folder();

// Those of some experiments at one scale. {"experiment", "scale", "runs": [{"seed", "command",
// "commit", "machine", "seconds", "result"}]}; any other file is a UserError.
Elsewhere read_elsewhere(const std::filesystem::path& folder,
                         const std::vector<const Experiment*>& experiments, Scale scale);

// By the experiment's rules; no finding where no result is a whole experiment's.
Judgement judge_elsewhere(const Experiment& experiment, Scale scale,
                          const std::vector<ElsewhereRun>& runs);

// "procgen/maze, leep, 25000000 steps: 8.1 on training levels, 6.5 on unseen ones",
// "the whole experiment"; what the file says as a terminal can show it.
std::string in_words(const ElsewhereRun& run);
// "seed 1, commit 1234567, one GPU, 3.0 h".
std::string provenance(const ElsewhereRun& run);

// Tables of all numbers with their provenance, of whole experiments that alone, and the commands.
std::vector<report::Block> blocks_of(const std::vector<ElsewhereRun>& runs);
Json to_json(const std::vector<ElsewhereRun>& runs);

}  // namespace agora::reproduce

#pragma once
#include <agora/planning/model.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace agora::planning {

// What a grid map does not say itself. Four moves; a blocked one stays where it is and costs a
// step. With probability `slip` a move goes to one of the two perpendicular directions.
struct GridRules {
  double step_reward = -1.0;   // times the digit on cells 1-9
  double goal_reward = 0.0;    // R(s_f) of G
  double pit_reward = -100.0;  // R(s_f) of !
  double slip = 0.0;
  bool operator==(const GridRules&) const = default;
};

struct LoadOptions {
  std::string format;  // name of a format; empty: the file's extension decides
  GridRules grid;
  std::optional<double> discount;  // in place of the model's own
  // A state's name, "uniform", or a distribution "NAME:PROBABILITY NAME:PROBABILITY ...";
  // empty: the model's own start.
  std::string start;
};

// `source`: a file, or a built-in model with its parameters, "maze(rows=21,seed=3)". Whatever
// is wrong with it is a UserError that names the place.
Model load(const std::string& source, const LoadOptions& options = {});

// A text map: # wall, . free, S start, G goal, ! pit, 1-9 free cells with costlier steps.
Model load_grid(const std::filesystem::path& file, const GridRules& rules = {});

// Writes CSV or DRN by the extension of `file`, or in the format named. What the format cannot
// hold (a start distribution, rewards that depend on the landing state) is returned in words.
std::vector<std::string> save(const Model& model, const std::filesystem::path& file,
                              const std::string& format = {});

}  // namespace agora::planning

#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/epistemic/problem.h"
#include "base/parameter.h"

namespace agora::agents::epistemic {

// One built-in problem is one file of problems/, whose `ProblemKind entry_STEM()` fills this.
struct ProblemKind {
  std::string name;
  std::string summary;  // one line, for listings
  std::vector<Parameter> parameters;
  std::function<std::vector<double>(const Told&)> posterior;  // unless the user gives weights
  std::function<Problem(const Told&, const std::vector<double>& weights)> make;
};

// Every built-in problem, in the order of their file names (generated).
const std::vector<ProblemKind>& problem_kinds();

struct ProblemOptions {
  std::vector<double> weights = {};     // in place of the problem's own; empty: those
  std::optional<double> discount = {};  // in place of the problem's own
  std::optional<int64_t> horizon = {};  // steps at most
};

// `source`: a TOML file, or a built-in problem with its parameters, "guessing(labels=4)".
//   discount = 0.9          # optional, like horizon
//   [[model]]               # a planning file, as seen from the TOML file, or a built-in model
//   source = "left.csv"
//   weight = 0.5
//   [[believed]]            # optional: what somebody may take for the truth
//   source = "train.csv"
Problem load_problem(const std::string& source, const ProblemOptions& options = {});

}  // namespace agora::agents::epistemic

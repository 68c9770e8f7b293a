#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agents/environment.h"
#include "agents/evaluation/evaluate.h"
#include "agents/remembering.h"
#include "cli/kind_options.h"
#include "cli/verb.h"

namespace agora::cli {

// The options --env and those that the environments declare.
struct WorldOptions {
  std::string name;
  std::shared_ptr<KindOptions> told;

  Arguments arguments() const;  // of the environment named
};
std::string world_kind(const std::string& name);  // "maze" of "maze/pixels"
// No preset: a policy says where it was made, which the option may replace.
std::shared_ptr<WorldOptions> declare_world(OptionList& app, const std::string& preset);

// A policy from a file or a run's folder, and where it plays.
struct PolicyOptions {
  std::string policy, levels = "unseen";
  int64_t trained = 0;
  agents::EvaluationOptions how = {};
  std::map<std::string, std::optional<double>> told = {};  // in place of the policy's own, by name
  std::shared_ptr<WorldOptions> world = {};
  // What it plays with, once it is loaded; it explores if it has learned to.
  agents::MemoryOptions remembers = {.cost = 0};
  std::optional<agents::Exploration> explores = {};

  std::string file() const;
  // The policy for `rows` at a time; `how` is told what is left to the policy.
  std::unique_ptr<agents::Policy> load(int64_t rows);

 private:
  agents::MemoryOptions memory_in_place_of(agents::MemoryOptions own) const;
  void expect_no_explorer() const;
};
std::shared_ptr<PolicyOptions> declare_policy(OptionList& app);

// "mean", "ci95", "episodes" and more of DESIGN's JSON form, and the same as a line.
Json evaluation_json(const agents::Evaluation& evaluation);
std::string evaluation_line(const std::string& name, const agents::Evaluation& evaluation);

}  // namespace agora::cli

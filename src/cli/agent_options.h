#pragma once
#include <memory>
#include <string>

#include "agents/environment.h"
#include "agents/evaluation/evaluate.h"
#include "cli/kind_options.h"
#include "cli/verb.h"

namespace agora::cli {

// The options --env and those that the environments declare.
struct WorldOptions {
  std::string name;
  std::shared_ptr<KindOptions> told;

  Arguments arguments() const;  // of the environment named
};
std::shared_ptr<WorldOptions> declare_world(OptionList& app, const std::string& preset);

// "mean", "ci95", "episodes" and more of DESIGN's JSON form, and the same as a line.
Json evaluation_json(const agents::Evaluation& evaluation);
std::string evaluation_line(const std::string& name, const agents::Evaluation& evaluation);

}  // namespace agora::cli

#pragma once
#include <agora/planning/load.h>

#include <memory>
#include <string>

#include "cli/options.h"

namespace agora::cli {

// The model of a `plan` verb: where it comes from and what its source leaves open.
struct ModelOptions {
  std::string source;
  planning::LoadOptions load;

  planning::Model read() const { return planning::load(source, load); }
};

std::shared_ptr<ModelOptions> declare_model(OptionList& app);

// "48 states, 4 actions, 148 transitions, deterministic, starts in '3,0'".
std::string describe(const planning::Model& model);
// The start state's name, or "300 states" where there are several.
std::string describe_start(const planning::Model& model);

}  // namespace agora::cli

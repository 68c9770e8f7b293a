#pragma once
#include "planning/model_part.h"
#include "planning/petsc/ranks.h"

namespace agora::planning {

// This rank's states of a model. Tables of transitions and DRN files are cut at lines, each rank
// parses its own piece, and what belongs to other ranks is sent to them.
ModelPart read_part(const Ranks& ranks, const std::string& source, const LoadOptions& load);

}  // namespace agora::planning

#pragma once
#include <filesystem>
#include <string_view>

#include "planning/distributed/file_share.h"
#include "planning/distributed/model_share.h"
#include "planning/distributed/petsc/ranks.h"

namespace agora::planning {

// This rank's states of a model. Tables of transitions, DRN files and maps are cut at lines, each
// rank parses its own piece, and what others need of it is sent to them.
ModelShare read_share(const Ranks& ranks, const std::string& source, const LoadOptions& load);

// A rank's lines of a file, cut where lines begin with `prefix`.
FileShare own_share(const Ranks& ranks, const std::filesystem::path& file, std::string_view prefix);
// Each rank has its rows and copies of those above and below them.
ModelShare read_map_share(const Ranks& ranks, const std::filesystem::path& file,
                          const GridRules& rules);

}  // namespace agora::planning

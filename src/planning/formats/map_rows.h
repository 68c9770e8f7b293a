#pragma once
#include <agora/error.h>

#include <filesystem>
#include <string>

#include "planning/model/text.h"

namespace agora::planning {

// Rows of a map file that follow each other; empty lines may come before and after the map.
struct MapRows {
  std::string cells = {};  // row by row
  int64_t rows = 0;
  size_t cols = 0;
  // The first empty line before the rows and the first behind them; 0: there is none.
  int64_t blank_before = 0, blank_after = 0;
};

// What `reader` still gives. cols: of the rows above, 0 if there are none.
MapRows read_map_rows(LineReader& reader, const std::filesystem::path& file, size_t cols = 0);

UserError blank_inside(const std::filesystem::path& file, int64_t line);
UserError too_many_cells(const std::filesystem::path& file);
UserError no_free_cell(const std::filesystem::path& file);
UserError no_start(const std::filesystem::path& file);
inline constexpr int64_t kMostMapCells = 1'000'000'000;

}  // namespace agora::planning

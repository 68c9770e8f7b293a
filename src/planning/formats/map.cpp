#include "planning/formats/format.h"
#include "planning/formats/map_rows.h"
#include "planning/model/grid_model.h"

namespace agora::planning::kind_map {
namespace {

Model read_map(const std::filesystem::path& file, const GridRules& rules) {
  LineReader reader(file);
  MapRows map = read_map_rows(reader, file);
  if (map.cells.find_first_not_of('#') == map.cells.npos) throw no_free_cell(file);
  if (map.cells.find_first_not_of("#G!") == map.cells.npos) throw no_start(file);
  return grid_model(static_cast<int32_t>(map.rows), static_cast<int32_t>(map.cols),
                    std::move(map.cells), rules);
}

}  // namespace

Format entry_map() {
  return {.name = "map",
          .extensions = {".map", ".txt", ".grid"},
          .summary = "grid map in text: # wall, . free, S start, G goal, ! pit, 1-9 costlier cells",
          .read = [](const std::filesystem::path& file,
                     const LoadOptions& options) { return read_map(file, options.grid); },
          .write = {}};
}

}  // namespace agora::planning::kind_map

namespace agora::planning {

Model load_grid(const std::filesystem::path& file, const GridRules& rules) {
  return kind_map::read_map(file, rules);
}

}  // namespace agora::planning

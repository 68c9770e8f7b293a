#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "planning/format.h"
#include "planning/grid_model.h"
#include "planning/text.h"

namespace agora::planning {
namespace {

constexpr size_t kMostCells = 1'000'000'000;

Model read_map(const std::filesystem::path& file, const GridRules& rules) {
  LineReader reader(file);
  std::string_view line;
  std::string cells;
  size_t rows = 0, cols = 0;
  int64_t blank_line = 0;
  while (reader.next(line)) {
    if (line.empty()) {
      if (blank_line == 0) blank_line = reader.number();
      continue;
    }
    if (blank_line != 0 && rows > 0) {
      throw user_error("{}:{}: an empty line inside the map", file.string(), blank_line);
    }
    blank_line = 0;
    const size_t wrong = line.find_first_not_of(kGridCells);
    if (wrong != line.npos) {
      throw user_error("{}:{}: column {}: unknown cell '{}', expected one of {}", file.string(),
                       reader.number(), wrong + 1, printable(line.substr(wrong, 1)), kGridCells);
    }
    if (rows > 0 && line.size() != cols) {
      throw user_error("{}:{}: the row has {} cells, the rows above have {}", file.string(),
                       reader.number(), line.size(), cols);
    }
    cols = line.size();
    cells += line;
    ++rows;
    if (cells.size() > kMostCells) {
      throw user_error("{}:{}: the map has more than {} cells", file.string(), reader.number(),
                       kMostCells);
    }
  }
  if (cells.find_first_not_of('#') == cells.npos) {
    throw user_error("{}: the map is empty: it has no free cell", file.string());
  }
  return grid_model(static_cast<int32_t>(rows), static_cast<int32_t>(cols), std::move(cells),
                    rules);
}

}  // namespace

Model load_grid(const std::filesystem::path& file, const GridRules& rules) {
  return read_map(file, rules);
}

Format entry_map() {
  return {.name = "map",
          .extensions = {".map", ".txt", ".grid"},
          .summary = "grid map in text: # wall, . free, S start, G goal, ! pit, 1-9 costlier cells",
          .read = [](const std::filesystem::path& file,
                     const LoadOptions& options) { return read_map(file, options.grid); },
          .write = {}};
}

}  // namespace agora::planning

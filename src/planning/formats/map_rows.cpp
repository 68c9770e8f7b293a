#include "planning/formats/map_rows.h"

#include "base/error.h"
#include "base/text.h"
#include "planning/model/grid_model.h"

namespace agora::planning {

UserError blank_inside(const std::filesystem::path& file, int64_t line) {
  return user_error("{}:{}: an empty line inside the map", file.string(), line);
}

UserError too_many_cells(const std::filesystem::path& file) {
  return user_error("{}: the map has more than {} cells", file.string(), kMostMapCells);
}

UserError no_free_cell(const std::filesystem::path& file) {
  return user_error("{}: the map is empty: it has no free cell", file.string());
}

UserError no_start(const std::filesystem::path& file) {
  return user_error("{}: the map has no cell to start in, only walls and ends", file.string());
}

MapRows read_map_rows(LineReader& reader, const std::filesystem::path& file, size_t cols) {
  MapRows map{.cols = cols};
  std::string_view line;
  while (reader.next(line)) {
    if (line.empty()) {
      int64_t& blank = map.rows == 0 ? map.blank_before : map.blank_after;
      if (blank == 0) blank = reader.number();
      continue;
    }
    if (map.blank_after != 0) throw blank_inside(file, map.blank_after);
    const size_t wrong = line.find_first_not_of(kGridCells);
    if (wrong != line.npos) {
      throw user_error("{}:{}: column {}: unknown cell '{}', expected one of {}", file.string(),
                       reader.number(), wrong + 1, printable(line.substr(wrong, 1)), kGridCells);
    }
    if (map.cols != 0 && line.size() != map.cols) {
      throw user_error("{}:{}: the row has {} cells, the rows above have {}", file.string(),
                       reader.number(), line.size(), map.cols);
    }
    map.cols = line.size();
    map.cells += line;
    ++map.rows;
    if (static_cast<int64_t>(map.cells.size()) > kMostMapCells) throw too_many_cells(file);
  }
  return map;
}

}  // namespace agora::planning

#include <algorithm>
#include <array>

#include "planning/distributed/grid_share.h"
#include "planning/distributed/petsc/reading.h"
#include "planning/formats/map_rows.h"

namespace agora::planning {
namespace {

// The cells of the map's first row.
size_t map_width(const std::filesystem::path& file) {
  LineReader reader(file);
  std::string_view line;
  while (reader.next(line)) {
    if (!line.empty()) return line.size();
  }
  return 0;
}

}  // namespace

ModelShare read_map_share(const Ranks& ranks, const std::filesystem::path& file,
                          const GridRules& rules) {
  const FileShare bytes = own_share(ranks, file, {});
  MapRows map;
  ranks.together([&] {
    LineReader reader(file);
    reader.restrict_to(bytes.begin, bytes.end, bytes.lines_before);
    map = read_map_rows(reader, file, map_width(file));
  });
  int64_t rows = 0, blank = 0;
  for (const auto& [count, blank_before, blank_after] : ranks.gathered(
           std::vector<std::array<int64_t, 3>>{{map.rows, map.blank_before, map.blank_after}})) {
    if (blank == 0) blank = blank_before;
    if (count > 0 && rows > 0 && blank != 0) throw blank_inside(file, blank);
    if (count > 0) blank = blank_after;
    rows += count;
  }
  const int64_t cols = static_cast<int64_t>(map.cols);
  if (rows * cols > kMostMapCells) throw too_many_cells(file);

  const auto free =
      static_cast<int64_t>(map.cells.size()) - std::count(map.cells.begin(), map.cells.end(), '#');
  GridStrip strip{.rows = static_cast<int32_t>(rows), .cols = static_cast<int32_t>(cols)};
  strip.own.begin = ranks.before(map.rows);
  strip.own.end = strip.own.begin + map.rows;
  strip.first_row = static_cast<int32_t>(strip.own.begin);
  strip.before = ranks.before(free);
  strip.total = static_cast<int64_t>(ranks.sum(static_cast<double>(free)));
  if (strip.total == 0) throw no_free_cell(file);
  std::vector<State> starts, candidates;  // candidates: this rank's first cell that is no end
  for (int64_t i = 0, s = strip.before; i < static_cast<int64_t>(map.cells.size()); ++i) {
    const char cell = map.cells[static_cast<size_t>(i)];
    if (cell == 'S') starts.push_back(static_cast<State>(s));
    const bool is_end = cell == 'G' || cell == '!';
    if (candidates.empty() && cell != '#' && !is_end) candidates.push_back(static_cast<State>(s));
    s += cell != '#';
  }
  starts = ranks.gathered(starts);
  candidates = ranks.gathered(candidates);
  if (starts.empty() && candidates.empty()) throw no_start(file);
  if (starts.empty()) starts.push_back(candidates[0]);
  // The first and the last row of every rank that has some.
  std::vector<std::string> seams;
  if (map.rows > 0) {
    const size_t last = map.cells.size() - map.cols;
    seams = {map.cells.substr(0, map.cols), map.cells.substr(last)};
  }
  const size_t here = static_cast<size_t>(ranks.before(static_cast<int64_t>(seams.size())));
  const std::vector<std::string> all_seams = ranks.gathered(seams);
  if (here > 0) {
    strip.cells = all_seams[here - 1];
    --strip.first_row;
  }
  strip.cells += map.cells;
  if (here + seams.size() < all_seams.size()) strip.cells += all_seams[here + seams.size()];

  ModelShare share = grid_share(strip, rules);
  for (const State s : starts) share.start.push_back({s, 1.0 / static_cast<double>(starts.size())});
  return share;
}

}  // namespace agora::planning

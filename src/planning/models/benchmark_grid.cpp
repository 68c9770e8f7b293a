#include "planning/models/benchmark_walls.h"
#include "planning/models/builtin.h"

namespace agora::planning::kind_benchmark_grid {

BuiltIn entry_benchmark_grid() {
  return {.name = "benchmark-grid",
          .summary = "the n x n grid that planners are timed on: a fifth walls, goal in the middle",
          .parameters = {{"n", 100, 2, 40000, true, "rows and columns"},
                         {"seed", 1, 0, 0x1p53, true, "of the walls"}},
          .make =
              [](const Told& given) {
                return benchmark_grid(given.whole("n"),
                                      static_cast<uint64_t>(given.number("seed")));
              },
          .make_share =
              [](const Told& given, int share, int shares) {
                return benchmark_grid_share(
                    given.whole("n"), static_cast<uint64_t>(given.number("seed")), share, shares);
              }};
}

}  // namespace agora::planning::kind_benchmark_grid

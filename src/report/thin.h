#pragma once
#include <cstddef>
#include <vector>

#include "report/chart.h"

namespace agora::report {

// A series of at most about `limit` points that looks the same: of each run of neighbours the
// first and last point, the extremes of line and band, and a gap if there is one.
// x, y and the band are cut to the same length.
Series thin(const Series& series, size_t limit);

// At most `limit` rows and columns. Values are averaged, gaps left out; categories are sampled.
// Texts are dropped when anything was merged.
HeatMap thin(const HeatMap& map, int64_t limit);

}  // namespace agora::report

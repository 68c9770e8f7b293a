#include "report/thin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/thread_pool.h"

namespace agora::report {

Series thin(const Series& series, size_t limit) {
  Series result = series;
  const size_t points = std::min(series.x.size(), series.y.size());
  const bool band = !series.lower.empty() && !series.upper.empty();
  result.x.resize(points);
  result.y.resize(points);
  result.lower.resize(band ? points : 0, std::numeric_limits<double>::quiet_NaN());
  result.upper.resize(band ? points : 0, std::numeric_limits<double>::quiet_NaN());
  if (points <= limit) return result;

  std::vector<size_t> kept;
  const int64_t buckets = std::max<int64_t>(1, static_cast<int64_t>(limit / (band ? 6 : 4)));
  for (int64_t bucket = 0; bucket < buckets; ++bucket) {
    const Range range = part_range(static_cast<int64_t>(points), bucket, buckets);
    std::set<size_t> chosen{static_cast<size_t>(range.begin), static_cast<size_t>(range.end - 1)};
    // The place of the largest of sign * values, and of the first gap.
    const auto keep_extreme = [&](const std::vector<double>& values, double sign) {
      size_t best = range.begin;
      double most = -std::numeric_limits<double>::infinity();
      for (size_t i = range.begin; i < static_cast<size_t>(range.end); ++i)
        if (std::isfinite(values[i]) && sign * values[i] > most) {
          most = sign * values[i];
          best = i;
        }
      chosen.insert(best);
    };
    keep_extreme(result.y, 1);
    keep_extreme(result.y, -1);
    if (band) {
      keep_extreme(result.upper, 1);
      keep_extreme(result.lower, -1);
    }
    for (size_t i = range.begin; i < static_cast<size_t>(range.end); ++i)
      if (!std::isfinite(result.y[i])) {
        chosen.insert(i);
        break;
      }
    kept.insert(kept.end(), chosen.begin(), chosen.end());
  }
  const auto take = [&](std::vector<double>& values) {
    if (values.empty()) return;
    std::vector<double> taken;
    for (const size_t index : kept) taken.push_back(values[index]);
    values = std::move(taken);
  };
  for (auto* values : {&result.x, &result.y, &result.lower, &result.upper}) take(*values);
  return result;
}

HeatMap thin(const HeatMap& map, int64_t limit) {
  HeatMap result = map;
  result.values.resize(static_cast<size_t>(map.rows * map.columns),
                       std::numeric_limits<double>::quiet_NaN());
  if (map.rows <= limit && map.columns <= limit) return result;
  result.x.low = map.x.low.value_or(0);
  result.x.high = map.x.high.value_or(static_cast<double>(map.columns));
  result.y.low = map.y.low.value_or(0);
  result.y.high = map.y.high.value_or(static_cast<double>(map.rows));
  result.rows = std::min(map.rows, limit);
  result.columns = std::min(map.columns, limit);
  result.text.clear();
  result.row_names.clear();
  result.column_names.clear();
  std::vector<double> values;
  for (int64_t row = 0; row < result.rows; ++row) {
    const Range rows = part_range(map.rows, row, result.rows);
    for (int64_t column = 0; column < result.columns; ++column) {
      const Range columns = part_range(map.columns, column, result.columns);
      if (!map.categories.empty()) {
        const int64_t middle_row = (rows.begin + rows.end) / 2;
        values.push_back(
            result.values[middle_row * map.columns + (columns.begin + columns.end) / 2]);
        continue;
      }
      double sum = 0;
      int64_t count = 0;
      for (int64_t r = rows.begin; r < rows.end; ++r)
        for (int64_t c = columns.begin; c < columns.end; ++c)
          if (const double value = result.values[r * map.columns + c]; std::isfinite(value)) {
            sum += value;
            ++count;
          }
      values.push_back(count > 0 ? sum / static_cast<double>(count)
                                 : std::numeric_limits<double>::quiet_NaN());
    }
  }
  result.values = std::move(values);
  return result;
}

}  // namespace agora::report

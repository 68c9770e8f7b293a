#include "report/chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace agora::report {

Histogram histogram(const std::vector<double>& samples, int bins) {
  std::vector<double> finite;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(finite),
               [](double sample) { return std::isfinite(sample); });
  Histogram result;
  if (finite.empty()) return result;
  const auto [low_at, high_at] = std::minmax_element(finite.begin(), finite.end());
  double low = *low_at, high = *high_at;
  // Samples that differ by less than a bin can resolve count as equal.
  const double size = std::max(std::abs(low), std::abs(high));
  if (high / 2 - low / 2 <= 1e-12 * size || size < 1e-290) {
    const double half = size < 1e-290 ? 0.5 : size * 0.05;
    low -= half;
    high += half;
  }
  // Twice the cube root (Rice), which suits the sizes of our samples.
  if (bins <= 0)
    bins = std::clamp(static_cast<int>(std::ceil(2 * std::cbrt(finite.size()))), 1, 100);
  const double width = high / bins - low / bins;
  for (int bin = 0; bin <= bins; ++bin) result.edges.push_back(low + width * bin);
  result.counts.assign(bins, 0);
  for (const double sample : finite)
    ++result.counts[std::clamp(static_cast<int>((sample - low) / width), 0, bins - 1)];
  return result;
}

const std::string& chart_title(const Chart& chart) {
  return std::visit([](const auto& any) -> const std::string& { return any.title; }, chart);
}

const std::string& chart_caption(const Chart& chart) {
  return std::visit([](const auto& any) -> const std::string& { return any.caption; }, chart);
}

}  // namespace agora::report

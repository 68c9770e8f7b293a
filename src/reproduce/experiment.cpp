#include "reproduce/experiment.h"

#include <cmath>

#include "base/error.h"
#include "base/statistics.h"

namespace agora::reproduce {

Rule within(double target, double tolerance) {
  return {fmt::format("{:.6g} ± {:.2g}", target, tolerance),
          [=](double ours) { return std::abs(ours - target) <= tolerance; }};
}

Rule between(double low, double high) {
  return {fmt::format("{:.6g} to {:.6g}", low, high),
          [=](double ours) { return low <= ours && ours <= high; }};
}

Rule at_least(double bound) {
  return {fmt::format("≥ {:.6g}", bound), [=](double ours) { return ours >= bound; }};
}

Rule at_most(double bound) {
  return {fmt::format("≤ {:.6g}", bound), [=](double ours) { return ours <= bound; }};
}

Finding finding(std::string what, std::string published, const std::vector<double>& ours,
                const Rule& rule) {
  CHECK(!ours.empty(), "no value for '{}'", what);
  const Summary summary = summarise(ours);
  Finding found{.what = std::move(what),
                .published = std::move(published),
                .ours = summary.mean,
                .half_width = {},
                .rule = rule.words,
                .pass = std::isfinite(summary.mean) && rule.holds(summary.mean)};
  if (ours.size() > 1) found.half_width = summary.half_width95;
  return found;
}

}  // namespace agora::reproduce

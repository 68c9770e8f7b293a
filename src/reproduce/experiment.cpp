#include "reproduce/experiment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/statistics.h"

namespace agora::reproduce {
namespace {

Finding measured(std::string what, std::string published, const std::vector<double>& ours,
                 std::string rule, Verdict verdict) {
  Finding found{.what = std::move(what),
                .published = std::move(published),
                .ours = std::numeric_limits<double>::quiet_NaN(),
                .half_width = {},
                .seeds = ours,
                .rule = std::move(rule),
                .verdict = verdict};
  if (ours.empty()) return found;
  const Summary summary = summarise(ours);
  found.ours = summary.mean;
  if (ours.size() > 1) found.half_width = summary.half_width95;
  return found;
}

bool holds_for_all(const Rule& rule, const std::vector<double>& ours) {
  return std::all_of(ours.begin(), ours.end(),
                     [&](double one) { return std::isfinite(one) && rule.holds(one); });
}

}  // namespace

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

std::string_view verdict_words(Verdict verdict) {
  constexpr std::string_view kWords[] = {"reproduced", "holds, looser than published",
                                         "not judged at quick scale", "missed"};
  return kWords[static_cast<int>(verdict)];
}

Finding finding(std::string what, std::string published, const std::vector<double>& ours,
                const Rule& rule) {
  CHECK(!ours.empty(), "no value for '{}'", what);
  return measured(std::move(what), std::move(published), ours, rule.words,
                  holds_for_all(rule, ours) ? Verdict::kReproduced : Verdict::kMissed);
}

Finding finding(Scale scale, std::string what, std::string published,
                const std::vector<double>& ours, const Rule& rule, const Rule& looser) {
  Finding found = finding(std::move(what), std::move(published), ours, rule);
  if (scale == Scale::kFull) return found;
  found.rule += "; looser: " + looser.words;
  if (found.verdict == Verdict::kMissed && holds_for_all(looser, ours)) {
    found.verdict = Verdict::kLooser;
  }
  return found;
}

Finding not_judged(std::string what, std::string published, const std::vector<double>& ours,
                   std::string why) {
  return measured(std::move(what), std::move(published), ours, "not judged: " + why,
                  Verdict::kNotJudged);
}

}  // namespace agora::reproduce

// Every published value and every rule, as the judges of the experiments tell them of samples.json,
// which has a result of each experiment's shape, mostly 0.5; published.txt is what they said.
// AGORA_UPDATE_GOLDEN=1 writes it anew: compare what changes with the thesis.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/json.h"
#include "reproduce/runner.h"
#include "support/program.h"

namespace agora::reproduce {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(AGORA_SOURCE) / "tests/cli";
constexpr Scale kScales[] = {Scale::kQuick, Scale::kFull};

const Json& samples() {
  static const Json all = parse_json_file(kFolder / "samples.json");
  return all;
}

// Every number of a result, as a place to change.
void add_numbers(const Json& value, const JsonPath& here, std::vector<JsonPath>& all) {
  if (value.is_number()) all.push_back(here);
  for (const auto& [key, member] : value.items()) add_numbers(member, here / key, all);
  for (size_t i = 0; value.is_array() && i < value.size(); ++i)
    add_numbers(value[i], here / i, all);
}

std::vector<JsonPath> numbers_in(const Json& result) {
  std::vector<JsonPath> all;
  add_numbers(result, JsonPath(""), all);
  return all;
}

// The findings, or none if the judge cannot make sense of the result.
std::vector<Finding> findings(const Experiment& experiment, Scale scale,
                              const std::vector<Json>& results) {
  try {
    return experiment.judge(scale, results).findings;
  } catch (const std::exception&) {
    return {};
  }
}

std::string in_lines(const Experiment& experiment, Scale scale) {
  std::string lines;
  for (const Finding& one : experiment.judge(scale, {samples().at(experiment.name)}).findings) {
    lines += fmt::format("  {} | {} | {}\n", one.what, one.published, one.rule);
  }
  return lines;
}

TEST(Published, IsAsItWas) {
  std::string told;
  for (const Experiment& each : experiments()) {
    told += each.name + ": " + each.title + " [" + each.source + "]\n";
    const std::string full = in_lines(each, Scale::kFull), quick = in_lines(each, Scale::kQuick);
    told += full;
    if (quick != full) told += " at quick scale\n" + quick;
  }
  const fs::path file = kFolder / "published.txt";
  if (std::getenv("AGORA_UPDATE_GOLDEN") != nullptr) write_atomically(file, told);
  EXPECT_EQ(told, testing::contents(file));
}

TEST(Published, EveryRuleCanBeMissed) {
  for (const Experiment& each : experiments()) {
    const Json& sample = samples().at(each.name);
    for (const Scale scale : kScales) {
      const auto before = findings(each, scale, {sample});
      std::vector<bool> missed(before.size());
      for (const auto& place : numbers_in(sample)) {
        for (const double value : {-1e6, 0.0, 1e6}) {
          Json changed = sample;
          changed.at(place) = value;
          const auto after = findings(each, scale, {changed});
          for (size_t i = 0; i < after.size() && i < missed.size(); ++i) {
            if (after[i].what == before[i].what && after[i].verdict == Verdict::kMissed) {
              missed[i] = true;
            }
          }
        }
      }
      for (size_t i = 0; i < missed.size(); ++i) {
        if (before[i].verdict == Verdict::kNotJudged) continue;
        EXPECT_TRUE(missed[i]) << each.name << " " << scale_name(scale) << ": " << before[i].what;
      }
    }
  }
}

// Results are files of others, too: what is missing, of another type or cut short in one is an
// error that can be caught, and no access beyond an end. (The library's assertions watch.)
TEST(Published, NoResultIsTooBrokenToJudge) {
  const auto add_places = [](const auto& self, const Json& value, const JsonPath& here,
                             std::vector<JsonPath>& all) -> void {
    all.push_back(here);
    for (const auto& [key, member] : value.items()) self(self, member, here / key, all);
    for (const size_t k : {size_t{0}, value.is_array() ? value.size() - 1 : 0}) {
      if (value.is_array() && k < value.size()) self(self, value[k], here / k, all);
    }
  };
  constexpr size_t kMostPlaces = 40;
  size_t judged = 0, refused = 0;
  for (const Experiment& each : experiments()) {
    const Json& sample = samples().at(each.name);
    std::vector<JsonPath> places;
    add_places(add_places, sample, JsonPath(""), places);
    for (size_t p = 0; p < places.size(); p += 1 + places.size() / kMostPlaces) {
      const Json& old = sample.at(places[p]);
      std::vector<Json> in_place{nullptr, "x", Json::array(), Json::object(), 1e308};
      if (old.is_array() && old.size() > 0) {
        Json shorter = Json::array();
        for (size_t k = 0; k + 1 < old.size(); ++k) shorter.push_back(old[k]);
        in_place.push_back(shorter);
      }
      for (const Json& other : in_place) {
        Json changed = sample;
        changed.at(places[p]) = other;
        for (const std::vector<Json>& results :
             {std::vector<Json>{changed}, {sample, changed}, {changed, sample}}) {
          (findings(each, Scale::kFull, results).empty() ? refused : judged) += 1;
        }
      }
    }
  }
  EXPECT_GT(judged, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(Published, EverySeedCounts) {
  for (const Experiment& each : experiments()) {
    for (const Scale scale : kScales) {
      if (configuration_of(each, scale).seeds.size() < 2) continue;
      const Json& sample = samples().at(each.name);
      const auto before = findings(each, scale, {sample, sample});
      std::vector<bool> noticed(before.size());
      for (const auto& place : numbers_in(sample)) {
        for (const double step : {-0.25, 0.25}) {
          Json second = sample;
          second.at(place) = sample.at(place).get<double>() + step;
          const auto after = findings(each, scale, {sample, second});
          for (size_t i = 0; i < after.size() && i < noticed.size(); ++i) {
            if (after[i].ours != before[i].ours) noticed[i] = true;
          }
        }
      }
      for (size_t i = 0; i < noticed.size(); ++i) {
        if (before[i].seeds.empty()) continue;
        EXPECT_TRUE(noticed[i]) << each.name << " " << scale_name(scale) << ": " << before[i].what;
      }
    }
  }
}

}  // namespace
}  // namespace agora::reproduce

#pragma once
// Judges have to notice what is broken: results that pass, and what is to be made of them.
#include <gtest/gtest.h>

#include <functional>

#include "base/json.h"
#include "reproduce/runner.h"

namespace agora::reproduce {

inline const std::filesystem::path kFolder = std::filesystem::path(AGORA_SOURCE) / "tests/cli";

inline const Json& honest() {
  static const Json all = parse_json_file(kFolder / "honest.json");
  return all;
}
// {"revenue", "regret", "strong", "p_star"}
inline Json untrained(const std::string& network, const std::string& setting) {
  static const Json all = parse_json_file(kFolder / "untrained.json");
  return all.at(network + " " + setting);
}

inline std::string missed(const std::string& name, Scale scale, const Json& results) {
  for (const Experiment& each : experiments()) {
    if (each.name != name) continue;
    std::string words;
    for (const Finding& one : each.judge(scale, results.get<std::vector<Json>>()).findings) {
      if (one.verdict == Verdict::kMissed) words += one.what + " (" + one.rule + ")\n";
    }
    return words;
  }
  throw std::logic_error(name);
}

// What an experiment is judged by, and results that pass.
struct Trial {
  std::string name;
  Scale scale;
  Json good;

  void notices(const std::string& what, const std::function<void(Json& result)>& edit) const {
    for (size_t seed = 0; seed < good.size(); ++seed) {
      Json broken = good;
      edit(broken[seed]);
      EXPECT_NE(missed(name, scale, broken), "") << name << ": " << what << ", seed " << seed;
    }
  }
};

inline Trial quick(const std::string& name) { return {name, Scale::kQuick, honest().at(name)}; }

inline Trial full(const std::string& name, const Json& good) {
  Trial trial{name, Scale::kFull, Json::array({good, good})};
  EXPECT_EQ(missed(name, trial.scale, trial.good), "") << name;
  return trial;
}

inline void put(Json& stage, const Json& numbers) {
  for (const auto& [key, value] : numbers.items()) {
    if (stage.contains(key)) stage[key] = value;
  }
}

// Every look of a curve as one of a network that learns nothing.
inline void flatten(Json& stage, const Json& numbers) {
  for (Json& look : stage.at("seen")) put(look, numbers);
}

}  // namespace agora::reproduce

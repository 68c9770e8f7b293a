// Judges have to notice what is broken. honest.json has results of real quick runs, mostly two
// seeds; untrained.json what networks that learned nothing give. Breaking one seed is enough. What
// is judged at full scale only is tried on results made up to agree with the thesis.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/json.h"
#include "reproduce/runner.h"

namespace agora::reproduce {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(AGORA_SOURCE) / "tests/cli";

const Json& honest() {
  static const Json all = parse_json_file(kFolder / "honest.json");
  return all;
}
// {"revenue", "regret", "strong", "p_star"}
Json untrained(const std::string& network, const std::string& setting) {
  static const Json all = parse_json_file(kFolder / "untrained.json");
  return all.at(network + " " + setting);
}

std::string missed(const std::string& name, Scale scale, const Json& results) {
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

Trial quick(const std::string& name) { return {name, Scale::kQuick, honest().at(name)}; }

Trial full(const std::string& name, const Json& good) {
  Trial trial{name, Scale::kFull, Json::array({good, good})};
  EXPECT_EQ(missed(name, trial.scale, trial.good), "") << name;
  return trial;
}

void put(Json& stage, const Json& numbers) {
  for (const auto& [key, value] : numbers.items()) {
    if (stage.contains(key)) stage[key] = value;
  }
}

// Every look of a curve as one of a network that learns nothing.
void flatten(Json& stage, const Json& numbers) {
  for (Json& look : stage.at("seen")) put(look, numbers);
}

TEST(Sabotage, HonestRunsPass) {
  for (const auto& [name, results] : honest().items()) {
    EXPECT_EQ(missed(name, Scale::kQuick, results), "") << name;
    for (const Json& one : results) {
      EXPECT_EQ(missed(name, Scale::kQuick, Json::array({one})), "") << name;
    }
  }
}

TEST(Sabotage, OfTheCliff) {
  const Trial trial = quick("ch2-slippery-cliff");
  trial.notices("methods exchanged",
                [](Json& result) { std::swap(result["z-averaged"], result["z-variational"]); });
  trial.notices("one method for both",
                [](Json& result) { result["z-averaged"] = result["z-variational"]; });
  for (const std::string method : {"z-averaged", "z-variational"}) {
    trial.notices(method + " believes what its policy earns, and a little", [&](Json& result) {
      for (size_t k = 0; k < result[method]["believed"].size(); ++k) {
        result[method]["believed"][k] = result[method]["earned"][k].get<double>() + 0.01;
      }
    });
  }
}

TEST(Sabotage, OfGuessing) {
  const std::string name = "ch3-fashion-mnist";
  const auto at_the_end = [](Json& result, const char* stage) -> Json& {
    Json& seen = result[stage]["seen"];
    return seen[seen.size() - 1];
  };
  // Ten labels that are as good as drawn: 18 wrong guesses of 20, or 1 + 7.8; 4.5 by elimination.
  const auto untrained_dqn = [&](Json& result) {
    for (const char* part : {"train", "test"}) {
      at_the_end(result, "dqn")[part] = {{"dqn", -18.0}, {"uniform", -7.9}};
    }
  };
  const auto untrained_classifier = [&](Json& result) {
    for (const char* part : {"train", "test"}) {
      at_the_end(result, "classifier")[part] = {{"adaptive", -4.5}, {"memoryless", -7.9}};
    }
  };
  const auto exchanged = [&](const char* one, const char* other) {
    return [=](Json& result) {
      Json& seen = at_the_end(result, "dqn")["test"];
      Json all = seen;
      all.update(at_the_end(result, "classifier")["test"]);
      for (const char* stage : {"dqn", "classifier"}) {
        Json& test = at_the_end(result, stage)["test"];
        if (test.contains(one)) test[one] = all[other];
        if (test.contains(other)) test[other] = all[one];
      }
    };
  };
  const auto stage = [](const Json& train, const Json& test) {
    return Json{{"seen", Json::array({{{"updates", 1}, {"train", train}, {"test", test}}})}};
  };
  const Trial trials[] = {
      quick(name), full(name, {{"dqn", stage({{"dqn", -0.05}, {"uniform", -0.02}},
                                             {{"dqn", -2.6}, {"uniform", -1.14}})},
                               {"classifier", stage({{"adaptive", -0.01}, {"memoryless", -0.1}},
                                                    {{"adaptive", -0.2}, {"memoryless", -1.0}})}})};
  for (const Trial& trial : trials) {
    trial.notices("DQN untrained", untrained_dqn);
    trial.notices("classifier untrained", untrained_classifier);
    trial.notices("DQN and uniform exchanged", exchanged("dqn", "uniform"));
    trial.notices("uniform and adaptive exchanged", exchanged("uniform", "adaptive"));
    trial.notices("adaptive and memoryless exchanged", exchanged("adaptive", "memoryless"));
    trial.notices("a DQN that eliminates", [&](Json& result) {
      at_the_end(result, "dqn")["test"]["dqn"] = at_the_end(result, "dqn")["test"]["uniform"];
    });
    trial.notices("tested on what was learned from", [&](Json& result) {
      for (const char* part : {"dqn", "classifier"}) {
        at_the_end(result, part)["test"] = at_the_end(result, part)["train"];
      }
    });
  }
  TEST(Sabotage, OfPropositions) {
    const Trial trial = quick("ch3-propositions");
    const auto set = [](const char* path, double value) {
      return [path = JsonPath(path), value](Json& result) { result.at(path) = value; };
    };
    trial.notices("guesses in proportion to p, not to its root", set("/drawn/root", 0.05));
    trial.notices("a memory that repeats a guess", set("/drawn/elimination", 0.01));
    trial.notices("maximum entropy of another temperature", set("/drawn/entropy", 0.02));
    trial.notices("an optimum that is not the likeliest MDP's",
                  set("/guesses/4/deterministic", -20 * (1 - 0.5 / 9)));
    trial.notices("a search that stops at the uniform policy", [](Json& result) {
      result["switching"][6]["best"] = result["switching"][6]["uniform"];
    });
    trial.notices("a best policy that follows an MDP", set("/two_switches/shared", 2));
    trial.notices("a tree whose round has one move more", [](Json& result) {
      for (Json& one : result["trees"]) one["apart"] = 0.1;
    });
    trial.notices("maximum entropy as good as the best",
                  [](Json& result) { result["trees"][3]["entropy"] = result["trees"][3]["best"]; });
    trial.notices("a bound that does not hold", set("/bounds/slack", -1e-6));
    trial.notices("policies that are all the same", set("/bounds/wrong", 0));
    trial.notices("an objective without its penalty", set("/bounds/beyond", 0.3));
  }

  TEST(Sabotage, OfTheZookeeper) {
    const Trial trial = quick("ch3-zookeeper");
    const auto all = [](Json& result, double train, double test) {
      for (Json& look : result["ppo"]["seen"]) look["train"] = train, look["test"] = test;
    };
    trial.notices("untrained", [&](Json& result) { all(result, 0.39, 0.39); });
    trial.notices("only peeks", [&](Json& result) { all(result, 0.95, 0.95); });
    trial.notices("new zoos that are not new", [](Json& result) {
      for (Json& look : result["ppo"]["seen"]) look["test"] = look["train"];
    });
    trial.notices("seen and new zoos exchanged", [](Json& result) {
      for (Json& look : result["ppo"]["seen"]) std::swap(look["train"], look["test"]);
    });
    trial.notices("peeks in no zoo", [](Json& result) { result["exact"][2]["peeks"] = 0.0; });
    trial.notices("reads maps that it cannot read",
                  [](Json& result) { result["exact"][2]["bayes"] = 0.6; });
  }

  TEST(Sabotage, OfTables) {
    const Trial trial = quick("ch4-table");
    const std::pair<std::string, std::string> lines[] = {{"I", "1x2"}, {"V", "2x2"}};
    for (const auto& [line, setting] : lines) {
      trial.notices(line + " untrained",
                    [&](Json& result) { put(result[line], untrained("equivariantnet", setting)); });
      // All that bidders are willing to pay, and all the regret of that.
      trial.notices(line + " without the term of the regret", [&](Json& result) {
        put(result[line], {{"revenue", 0.6}, {"regret", 0.1}, {"strong", 0.1}, {"p_star", 0.2}});
      });
    }
    quick("ch5-known-optima").notices("A untrained", [](Json& result) {
      put(result["A"], untrained("algnet", "1x2"));
    });
    for (const std::string network : {"regretnet", "algnet"}) {
      quick("ch5-unknown-optima").notices(network + " untrained", [&](Json& result) {
        put(result[network + "-1x2"], untrained(network, "1x2"));
      });
    }
    const auto line = [](double revenue, double regret, double p_star) {
      return Json{{"revenue", revenue}, {"regret", regret}, {"strong", regret}, {"p_star", p_star}};
    };
    const Trial iv = full("ch4-table", {{"I", line(0.551, 1.3e-4, 0.53)},
                                        {"IV", line(0.173, 3e-5, 0.165)},
                                        {"V", line(0.873, 1e-3, 0.79)}});
    iv.notices("IV untrained",
               [](Json& result) { put(result["IV"], untrained("equivariantnet", "IV")); });
    iv.notices("fifty times the regret", [](Json& result) { result["IV"]["regret"] = 50 * 3e-5; });
  }

  TEST(Sabotage, OfSettingVi) {
    Json good;
    const std::pair<std::string, double> bundles[] = {
        {"0.01", 0.372}, {"0.1", 0.409}, {"1", 0.840}, {"10", 4.088}};
    for (const auto& [mean, bundle] : bundles) {
      for (const std::string network : {"equivariantnet", "regretnet"}) {
        const double regret = 0.001 * bundle;
        good[network + "-" + mean] = {{"revenue", bundle}, {"regret", regret}, {"strong", regret}};
      }
    }
    const Trial trial = full("ch4-setting-vi", good);
    for (const auto& [mean, bundle] : bundles) {
      for (const std::string network : {"equivariantnet", "regretnet"}) {
        trial.notices(network + " untrained, " + mean, [&, at = mean](Json& result) {
          put(result[network + "-" + at], untrained(network, "VI(" + at + ")"));
        });
      }
    }
    trial.notices("fifty times the regret",
                  [](Json& result) { result["equivariantnet-1"]["regret"] = 50 * 0.0005; });
    trial.notices("a revenue of .66 for .84",
                  [](Json& result) { result["regretnet-1"]["revenue"] = 0.66; });
  }

  TEST(Sabotage, OfPermutationSensitivity) {
    const std::string name = "ch4-permutation-sensitivity";
    const Trial trial = quick(name);
    trial.notices("untrained",
                  [](Json& result) { put(result["many"], untrained("regretnet", "1x2")); });
    trial.notices("untrained, equivariant", [](Json& result) {
      put(result["equivariant"], untrained("equivariantnet", "1x2"));
    });
    trial.notices("networks exchanged",
                  [](Json& result) { std::swap(result["many"], result["equivariant"]); });
    const auto stage = [](double revenue, double h_r) {
      const Json range{{"mean", h_r}, {"max", 2 * h_r}, {"profiles", {h_r, 2 * h_r}}};
      return Json{{"revenue", revenue}, {"strong", 5e-4}, {"h_r", range}};
    };
    const Trial all = full(name, {{"many", stage(0.55, 0.002)},
                                  {"few", stage(0.55, 0.006)},
                                  {"equivariant", stage(0.55, 0)},
                                  {"equivariant-V", stage(0.87, 0)},
                                  {"II", stage(2.9, 0.2)},
                                  {"equivariant-II", stage(3.0, 0)}});
    all.notices("few samples give .643 of the h_R of many",
                [](Json& result) { result["few"]["h_r"]["mean"] = 0.643 * 0.002; });
    all.notices("II sells for little", [](Json& result) { result["II"]["revenue"] = 1.5; });
  }

  TEST(Sabotage, OfExploitability) {
    const std::string name = "ch4-exploitability";
    quick(name).notices("networks exchanged",
                        [](Json& result) { std::swap(result["equivariant"], result["III_2"]); });
    Json good{{"equivariant", {{"loss", 0.0}, {"revenue", 5.3}}}};
    const double myerson[] = {4.1667, 5.3125, 6.125, 6.71875, 7.16518};
    for (int n = 2; n <= 6; ++n) {
      good[fmt::format("III_{}", n)] = {{"loss", 1.8 * n - 2}, {"revenue", myerson[n - 2]}};
    }
    const Trial trial = full(name, good);
    trial.notices("untrained: asymmetric, but sells for little",
                  [](Json& result) { result["III_6"]["revenue"] = 3.0; });
    trial.notices("a loss of 4 with six bidders",
                  [](Json& result) { result["III_6"]["loss"] = 4.0; });
    trial.notices("a loss that does not grow", [](Json& result) { result["III_2"]["loss"] = 9.0; });
  }

  TEST(Sabotage, OfSampleEfficiency) {
    const auto curve = [](double train, double test) {
      return Json{{"seen", Json::array({{{"epoch", 1}, {"train", train}, {"test", test}}})}};
    };
    const Trial trial = full("ch4-sample-efficiency", {{"equivariantnet", curve(-0.8, -0.78)},
                                                       {"regretnet", curve(-0.8, -0.5)}});
    trial.notices("networks exchanged",
                  [](Json& result) { std::swap(result["equivariantnet"], result["regretnet"]); });
    trial.notices("both generalise",
                  [](Json& result) { result["regretnet"] = result["equivariantnet"]; });
    trial.notices("neither does",
                  [](Json& result) { result["equivariantnet"] = result["regretnet"]; });
  }

  TEST(Sabotage, OfGeneralisation) {
    const Trial trial = quick("ch4-generalisation");
    trial.notices("untrained", [](Json& result) {
      put(result["alpha"][0], untrained("equivariantnet", "1x2"));
    });
    trial.notices("untrained, two bidders",
                  [](Json& result) { put(result["beta"][0], untrained("equivariantnet", "2x2")); });
    trial.notices("a baseline that is untrained", [](Json& result) {
      put(result["alpha-regretnet-2"], untrained("regretnet", "1x2"));
    });
    trial.notices("a baseline that earns twice as much", [](Json& result) {
      Json& revenue = result["beta-regretnet-6"]["revenue"];
      revenue = 2 * revenue.get<double>();
    });
  }

  TEST(Sabotage, OfTheOnlineAuction) {
    const Trial trial = quick("ch5-online");
    trial.notices("untrained",
                  [](Json& result) { flatten(result["algnet"], untrained("algnet", "1x2")); });
    trial.notices("ALGnet and the offline RegretNet exchanged",
                  [](Json& result) { std::swap(result["algnet"], result["regretnet-offline"]); });
    trial.notices("an offline RegretNet that adapts",
                  [](Json& result) { result["regretnet-offline"] = result["algnet"]; });
  }

  TEST(Sabotage, OfSchedules) {
    const Trial trial = quick("ch5-schedule-sensitivity");
    trial.notices("schedules without effect", [](Json& result) {
      result["1x2-with-3x10"] = result["1x2-with-5x10"] = result["1x2-with-1x2"];
    });
    trial.notices("schedules exchanged",
                  [](Json& result) { std::swap(result["1x2-with-1x2"], result["1x2-with-5x10"]); });
    trial.notices("untrained",
                  [](Json& result) { put(result["1x2-with-1x2"], untrained("regretnet", "1x2")); });
  }

  TEST(Sabotage, OfLearningCurves) {
    const std::string name = "ch5-learning-curves";
    for (const std::string network : {"regretnet", "algnet"}) {
      quick(name).notices(network + " untrained", [&](Json& result) {
        flatten(result[network], untrained(network, "1x2"));
      });
    }
    // ALGnet learns sooner, with less regret early on.
    Json good;
    for (const std::string network : {"regretnet", "algnet"}) {
      for (int k = 1; k <= 20; ++k) {
        const bool learning = k <= 10 && network == "regretnet";
        good[network]["seen"].push_back({{"epoch", 0.3 * k},
                                         {"revenue", 0.55},
                                         {"regret", learning ? 0.01 : 5e-4},
                                         {"p_star", learning ? 0.4 : 0.52}});
      }
    }
    const Trial trial = full(name, good);
    trial.notices("networks exchanged",
                  [](Json& result) { std::swap(result["regretnet"], result["algnet"]); });
    trial.notices("one network for both",
                  [](Json& result) { result["algnet"] = result["regretnet"]; });
  }

}  // namespace
}  // namespace agora::reproduce

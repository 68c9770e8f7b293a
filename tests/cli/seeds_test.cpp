// `auction train --seeds`: each seed as if it were trained alone, and what they have in common.
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "cli/train_seeds.h"
#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::Result;
using testing::shell;

const std::string kTrain =
    "agora auction train regretnet --setting 1x2 --batch 16 --width 8 --samples 64 --profiles 200 "
    "--regret-profiles 2 --json ";

Json without_places(Json result) {
  for (const char* key : {"seed", "seconds", "training_seconds", "run", "file"}) result.erase(key);
  return result;
}

TEST(Seeds, AreNamedByRangesAndLists) {
  using Numbers = std::vector<uint64_t>;
  EXPECT_EQ(cli::seeds_named("1-5"), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(cli::seeds_named("7,3,1"), (Numbers{7, 3, 1}));
  EXPECT_EQ(cli::seeds_named("18446744073709551614-18446744073709551615").size(), 2u);
  for (const char* wrong : {"", "5-1", "1,", ",1", "a", "1-", "-1", "1-2-3", "1 2", "1.5"}) {
    expect_user_error([&] { cli::seeds_named(wrong); }, {"--seeds: expected seeds such as"});
  }
  expect_user_error([&] { cli::seeds_named("1-3,2"); }, {"seed 2 is given twice"});
  expect_user_error([&] { cli::seeds_named("1-1000000000000"); }, {"at most 10000"});
}

TEST(Seeds, LearnWhatEachLearnsAlone) {
  const Scratch scratch;
  const std::string train = kTrain + "--iterations 40 ";
  const Result many =
      shell(train + "--seeds 3,5 --threads 2 --run many --out m.safetensors", scratch.path());
  ASSERT_EQ(many.status, 0) << many.err;
  const Json result = parse_json(many.out, "many");
  ASSERT_EQ(result["seeds"].size(), 2u);
  std::vector<double> revenue;
  for (size_t k = 0; k < 2; ++k) {
    const std::string seed = k == 0 ? "3" : "5", folder = "many/seed-" + seed;
    const Result alone = shell(train + "--threads 1 --seed " + seed + " --run alone-" + seed +
                                   " --out alone-" + seed + ".safetensors",
                               scratch.path());
    ASSERT_EQ(alone.status, 0) << alone.err;
    EXPECT_EQ(contents(scratch / ("m-seed-" + seed + ".safetensors")),
              contents(scratch / ("alone-" + seed + ".safetensors")));
    EXPECT_EQ(contents(scratch / (folder + "/metrics.csv")),
              contents(scratch / ("alone-" + seed + "/metrics.csv")));
    EXPECT_EQ(dump_json(result["seeds"][k]["seed"]), seed);
    EXPECT_EQ(without_places(result["seeds"][k]), without_places(parse_json(alone.out, "alone")));
    revenue.push_back(result["seeds"][k]["revenue"]["mean"].get<double>());
  }
  const Json& summary = result["summary"]["revenue"];
  EXPECT_NEAR(summary["mean"].get<double>(), (revenue[0] + revenue[1]) / 2, 1e-12);
  // tan(.475 pi) is the 97.5 % quantile of Student's law with one degree of freedom.
  EXPECT_NEAR(summary["ci95"].get<double>(),
              std::tan(0.475 * std::acos(-1)) * std::abs(revenue[0] - revenue[1]) / 2, 1e-5);
  EXPECT_EQ(without_places(parse_json_file(scratch / "many/result.json")), without_places(result));
  // Again: nothing is left to do, and the same is printed.
  const Result again = shell("agora resume many --json", scratch.path());
  EXPECT_EQ(again.status, 2) << "it would write beside the folder";
  const Result finished =
      shell(train + "--seeds 3,5 --run many --out m.safetensors", scratch.path());
  EXPECT_EQ(finished.out, many.out);
}

TEST(Seeds, PrintALineEachAndTheirMean) {
  const Scratch scratch;
  const Result result = shell(
      "agora auction train regretnet --setting 1x2 --batch 16 --width 8 --samples 64 "
      "--profiles 200 --regret-profiles 0 --iterations 5 --seeds 1-3 --out a.json",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2 + 3 + 1) << result.out;
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\n  2 +[0-9.e-]+ +- +- +a-seed-2.json\n")));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\n  mean +[0-9.e-]+ ± [0-9.e-]+ +- +-\n")));
  EXPECT_EQ(scratch.names(),
            (std::vector<std::string>{"a-seed-1.json", "a-seed-2.json", "a-seed-3.json"}));
}

TEST(Seeds, AreAllSavedByASignalAndGoOn) {
  const Scratch scratch;
  const std::string train = kTrain + "--iterations 3000 --seeds 1-2 --threads 2 ";
  ASSERT_EQ(shell(train + "--run whole", scratch.path()).status, 0);
  const Result stopped = shell(train +
                                   "--run pieces & work=$!\n"
                                   "until [ -e pieces/seed-1/config.toml -a -e "
                                   "pieces/seed-2/config.toml ]; do sleep 0.05; done\n"
                                   "kill -TERM $work; wait $work",
                               scratch.path());
  ASSERT_EQ(stopped.status, 143) << stopped.err;
  EXPECT_NE(stopped.err.find("every seed is saved, go on with `agora resume pieces`"),
            std::string::npos)
      << stopped.err;
  EXPECT_EQ(std::count(stopped.err.begin(), stopped.err.end(), '\n'), 1) << stopped.err;
  EXPECT_FALSE(fs::exists(scratch / "pieces/result.json"));
  const Result resumed = shell("agora resume pieces --json", scratch.path());
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  for (const char* file : {"seed-1/mechanism.safetensors", "seed-2/mechanism.safetensors",
                           "seed-1/metrics.csv", "seed-2/metrics.csv"}) {
    EXPECT_EQ(contents(scratch / "whole" / file), contents(scratch / "pieces" / file)) << file;
  }
}

TEST(Seeds, MistakesAreOneLine) {
  const Scratch scratch;
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"--seed 3 --seeds 1-2 --out m.json", "--seed and --seeds exclude each other"},
      {"--seeds 1-x --out m.json", "--seeds: expected seeds such as"},
      {"--seeds 1-2 --hidden 0 --run r", "--hidden: expected a positive number"},
      {"--seeds 1-2", "expected --run FOLDER or --out FILE"},
      {"--seeds 1-2 --out no/such/folder/m.json --iterations 1", "seed 1: "}};
  for (const auto& [words, line] : mistakes) {
    const Result result = shell(kTrain + words, scratch.path());
    EXPECT_EQ(result.status, 2) << words << result.err;
    EXPECT_NE(result.err.find(line), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_TRUE(scratch.names().empty());
}

}  // namespace
}  // namespace agora

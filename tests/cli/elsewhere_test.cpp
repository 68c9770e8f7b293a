// `agora reproduce --scale full` where a GPU would be needed: what was made elsewhere, as such.
#include "reproduce/elsewhere.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "reproduce/runner.h"
#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

Json file(const std::string& experiment) {
  const Json earned{{"mean", 6.5}, {"ci95", {6.25, 6.75}}, {"episodes", 1000}};
  return {{"experiment", experiment},
          {"scale", "full"},
          {"runs", Json::array({{{"seed", 3},
                                 {"command", "agora agent train leep --env procgen/maze --seed 3"},
                                 {"commit", "0123abc"},
                                 {"machine", "one GPU"},
                                 {"seconds", 5400},
                                 {"result",
                                  {{"env", "procgen/maze"},
                                   {"algorithm", "leep"},
                                   {"steps", 25'000'000},
                                   {"train", earned},
                                   {"test", earned},
                                   {"steps_per_second", 9000}}}}})}};
}

testing::Result reproduce(const std::string& words, const Scratch& scratch) {
  fs::create_directories(scratch / "results");
  return testing::shell("AGORA_RESULTS=results agora reproduce --out out --scale full " + words,
                        scratch.path());
}

bool has(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

TEST(Elsewhere, IsShownWhereAGpuWouldBeNeeded) {
  const Scratch scratch;
  fs::create_directories(scratch / "results");
  write_json(scratch / "results/ch3-four-games.json", file("ch3-four-games"));
  const auto shown = reproduce("ch3-four-games", scratch);
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_TRUE(has(shown.out, "full scale takes a GPU")) << shown.out;
  EXPECT_TRUE(has(shown.out,
                  "procgen/maze, leep, 25000000 steps: 6.5 on training levels, 6.5 on "
                  "unseen ones (seed 3, commit 0123abc, one GPU, 1h 30m)"))
      << shown.out;
  EXPECT_TRUE(has(testing::contents(scratch / "out/report-full.html"), "6.5 [6.25, 6.75]"));
  EXPECT_EQ(
      parse_json_file(scratch / "out/results-full.json").at(JsonPath("/experiments/0/elsewhere")),
      file("")["runs"]);
}

TEST(Elsewhere, IsTheUsersMistakeIfItIsNotOfTheForm) {
  const Scratch scratch;
  fs::create_directories(scratch / "results");
  Json broken = file("ch3-four-games");
  broken["runs"][0].erase("commit");
  write_json(scratch / "results/ch3-four-games.json", broken);
  // Told before anything runs.
  for (const char* words : {"ch3-four-games", "ch2-decision-tree ch3-four-games"}) {
    const auto told = reproduce(words, scratch);
    EXPECT_EQ(told.status, 2) << told.out;
    EXPECT_EQ(told.out, "");
    EXPECT_EQ(told.err, "agora: results/ch3-four-games.json: run 1: expected a member 'commit'\n");
  }
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

TEST(Elsewhere, IsMissedWhereThereIsNone) {
  const Scratch scratch;
  const auto told = reproduce("ch3-four-games", scratch);
  EXPECT_EQ(told.status, 2);
  EXPECT_TRUE(has(told.err, "agora: reproduce: ch3-four-games: full scale takes a GPU"))
      << told.err;
}

TEST(Elsewhere, IsInAFolderThatIsThere) {
  const Scratch scratch;
  const auto told =
      testing::shell("AGORA_RESULTS=nowhere agora reproduce ch2-decision-tree", scratch.path());
  EXPECT_EQ(told.status, 2);
  EXPECT_EQ(told.err, "agora: AGORA_RESULTS: no folder 'nowhere'\n");
  std::ofstream(scratch / "ch2-decision-tree.json") << "{";  // an empty name is not this folder
  EXPECT_EQ(
      testing::shell("AGORA_RESULTS= agora reproduce ch2-decision-tree", scratch.path()).status, 0);
}

// Those of the source are of the form, and of experiments that exist.
TEST(Elsewhere, OfTheSourceCanBeRead) {
  const fs::path folder = fs::path(AGORA_SOURCE) / "experiments/results";
  if (!fs::exists(folder)) GTEST_SKIP() << "there are none";
  std::vector<const reproduce::Experiment*> all;
  std::set<std::string> names;
  for (const reproduce::Experiment& each : reproduce::experiments()) {
    all.push_back(&each);
    names.insert(each.name);
  }
  for (const auto scale : {reproduce::Scale::kQuick, reproduce::Scale::kFull}) {
    EXPECT_NO_THROW(reproduce::read_elsewhere(folder, all, scale));
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    EXPECT_TRUE(names.contains(entry.path().stem().string())) << entry.path();
  }
}

}  // namespace
}  // namespace agora

// Results that were made elsewhere: what is read of a file, what is refused, and what is shown.
#include "reproduce/elsewhere.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "reproduce/book.h"
#include "support/scratch.h"

namespace agora::reproduce {
namespace {

const Json kAgent{{"env", "procgen/maze"},
                  {"algorithm", "leep"},
                  {"steps", 25'000'000},
                  {"train", {{"mean", 8.25}, {"ci95", {8.125, 8.375}}, {"episodes", 1000}}},
                  {"test", {{"mean", 6.5}, {"ci95", {6.25, 6.75}}, {"episodes", 1000}}},
                  {"steps_per_second", 9000.5}};
const Json kAuction{
    {"mechanism", "regretnet"},
    {"setting", "2x3 uniform(0,1)"},
    {"profiles", 10'000},
    {"revenue", {{"mean", 1.375}, {"se", 0.0025}}},
    {"regret", {{"thesis", {{"mean", 0.0005}, {"max", 0.01}}}, {"strong", nullptr}}},
    {"ir_violation", 0},
    {"p_star", {{"thesis", 1.3125}, {"strong", nullptr}}},
    {"welfare", 2.5},
    {"sale_rate", 0.75},
    {"seconds", 12.5}};

Json run_with(const Json& result, int seed = 7) {
  return {{"seed", seed},        {"command", "agora agent train leep --env procgen/maze"},
          {"commit", "0123abc"}, {"machine", "16 cores, one GPU"},
          {"seconds", 5400},     {"result", result}};
}
Json file_with(const Json& result) {
  return {{"experiment", "games"}, {"scale", "full"}, {"runs", Json::array({run_with(result)})}};
}

Experiment named(const std::string& name) {
  return {.name = name,
          .chapter = 9,
          .title = "Games",
          .source = "nowhere",
          .quick = {.seeds = {1}, .expected_seconds = 1, .words = "few"},
          .full = {.seeds = {1}, .expected_seconds = 2'000'000, .words = "many", .gpu = true},
          .run = {},
          .judge = [](Scale, const std::vector<Json>& results) {
            std::vector<double> points;
            for (const Json& each : results) points.push_back(each.at("points").get<double>());
            return Judgement{.findings = {finding("points", "3", points, at_least(3)),
                                          finding("few points", "", points, at_most(9))},
                             .charts = {},
                             .remark = "Points of all games."};
          }};
}
const Experiment kGames = named("games");

Elsewhere read(const Scratch& scratch, const Json& file, Scale scale = Scale::kFull) {
  write_json(scratch / "games.json", file);
  return read_elsewhere(scratch.path(), {&kGames}, scale);
}

TEST(Elsewhere, IsOfItsExperimentAndScale) {
  const Scratch scratch;
  const Elsewhere found = read(scratch, file_with(kAgent));
  ASSERT_EQ(found.at("games").size(), 1U);
  const ElsewhereRun& run = found.at("games")[0];
  EXPECT_EQ(in_words(run),
            "procgen/maze, leep, 25000000 steps: 8.25 on training levels, 6.5 on unseen ones");
  EXPECT_EQ(provenance(run), "seed 7, commit 0123abc, 16 cores, one GPU, 1h 30m");
  EXPECT_EQ(to_json(found.at("games")), Json::array({run_with(kAgent)}));
  EXPECT_TRUE(read(scratch, file_with(kAgent), Scale::kQuick).empty());
  const Experiment other = named("other");
  EXPECT_TRUE(read_elsewhere(scratch.path(), {&other}, Scale::kFull).empty());
  EXPECT_TRUE(read_elsewhere(scratch / "nowhere", {&other}, Scale::kFull).empty());
}

TEST(Elsewhere, MayBeAnAudit) {
  const Scratch scratch;
  const Elsewhere found = read(scratch, file_with(kAuction));
  EXPECT_EQ(in_words(found.at("games")[0]),
            "regretnet, 2x3 uniform(0,1): revenue 1.375, regret 0.0005 (thesis)");
  // A small number keeps its minus sign, and a file cannot move the cursor.
  Json odd = kAuction;
  odd["regret"]["thesis"]["mean"] = 2.5e-16;
  odd["setting"] = "2x3\x1b[2J";
  EXPECT_EQ(in_words(read(scratch, file_with(odd)).at("games")[0]),
            "regretnet, 2x3\\x1b[2J: revenue 1.375, regret 2.5e−16 (thesis)");
}

// What a whole experiment found there is held to its rules, all its seeds together; a training
// beside it is not.
TEST(Elsewhere, MayBeAWholeExperiment) {
  const Scratch scratch;
  const Order order{.scale = Scale::kFull, .out = scratch.path()};
  const auto chapter_with = [&](double first, double second) {
    Json file = file_with({{"points", first}});
    file["runs"].push_back(run_with({{"points", second}}, 8));
    file["runs"].push_back(run_with(kAuction));
    return judge({}, order, {&kGames}, read(scratch, file)).at(0);
  };
  const Chapter holds = chapter_with(4, 5), fails = chapter_with(4, 2);
  EXPECT_EQ(elsewhere_in_words(holds), "2 of 2 rules hold");
  EXPECT_EQ(elsewhere_in_words(fails), "1 of 2 rules hold; points: 4, 2, expected ≥ 3");
  EXPECT_EQ(holds.fate, Fate::kNotRun);
  EXPECT_EQ(in_words(holds.elsewhere[0]), "the whole experiment");
  const Json told =
      to_json(std::vector<Chapter>{fails}, order.scale).at(JsonPath("/experiments/0"));
  EXPECT_EQ(told.at("elsewhere_findings").at(0).at("verdict"), "missed");
  EXPECT_EQ(told.at("findings").size(), 0U);
  write_report(scratch / "report.html", {fails}, order);
  const std::string html = read_file(scratch / "report.html");
  for (const char* part : {"judged by the same rules: 1 of 2 rules hold", "Points of all games.",
                           "few points", "all of it", "0123abc", "regretnet"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
}

TEST(Elsewhere, RefusesWhatIsNotOfTheForm) {
  const Scratch scratch;
  const auto refused = [&](const std::string& fragment, const Json& result,
                           const std::function<void(Json & file)>& edit) {
    Json file = file_with(result);
    edit(file);
    expect_user_error([&] { read(scratch, file); }, {"games.json", fragment});
  };
  const auto without = [](Json& object, const char* key) { object.erase(key); };
  for (const char* key : {"experiment", "scale", "runs"}) {
    refused(key, kAgent, [&](Json& file) { without(file, key); });
  }
  for (const char* key : {"seed", "command", "commit", "machine", "seconds", "result"}) {
    refused(key, kAgent, [&](Json& file) { without(file["runs"][0], key); });
  }
  for (const char* key : {"env", "steps", "train", "test"}) {
    refused(key, kAgent, [&](Json& file) { without(file["runs"][0]["result"], key); });
  }
  for (const char* key : {"setting", "revenue", "regret", "p_star"}) {
    refused(key, kAuction, [&](Json& file) { without(file["runs"][0]["result"], key); });
  }
  refused("what games finds", kAgent,
          [&](Json& file) { file["runs"][0]["result"].erase("algorithm"); });
  refused("object", kAgent, [](Json& file) { file["runs"][0]["result"] = 3; });
  refused("run 1", kAgent, [](Json& file) { file["runs"][0] = "a run"; });
  refused("expected games", kAgent, [](Json& file) { file["experiment"] = "others"; });
  refused("quick or full", kAgent, [](Json& file) { file["scale"] = "half"; });
  refused("seed", kAgent, [](Json& file) { file["runs"][0]["seed"] = -1; });
  refused("with seed 7", {{"points", 4}},
          [](Json& file) { file["runs"].push_back(file["runs"][0]); });
  refused("two ends", kAgent,
          [](Json& file) { file["runs"][0]["result"]["test"]["ci95"] = Json::array({1}); });
  for (const char* bytes : {"", "{", "[]", "\x01"}) {
    scratch.put("games.json", bytes);
    expect_user_error([&] { read_elsewhere(scratch.path(), {&kGames}, Scale::kFull); },
                      {"games.json"});
  }
}

TEST(Elsewhere, IsShownWithItsProvenance) {
  const Scratch scratch;
  const Order order{.scale = Scale::kFull, .out = scratch.path()};
  Json file = file_with(kAgent);
  file["runs"].push_back(run_with(kAuction));
  const auto chapters = judge({}, order, {&kGames}, read(scratch, file));
  ASSERT_EQ(chapters.size(), 1U);
  EXPECT_EQ(chapters[0].fate, Fate::kNotRun);
  EXPECT_NE(chapters[0].why.find("full scale takes a GPU"), std::string::npos) << chapters[0].why;
  EXPECT_EQ(to_json(chapters, order.scale).at(JsonPath("/experiments/0/elsewhere")), file["runs"]);
  write_report(scratch / "report.html", chapters, order);
  const std::string html = read_file(scratch / "report.html");
  for (const char* part :
       {"Made elsewhere", "procgen/maze", "leep", "25000000", "8.25 [8.125, 8.375]",
        "6.5 [6.25, 6.75]", "0123abc", "16 cores, one GPU", "1h 30m", "a GPU",
        "agora agent train leep --env procgen/maze", "regretnet", "2x3 uniform(0,1)", "1.375"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  // Who has no GPU may insist, and then nothing is missing but what the experiment says.
  Order insisting = order;
  insisting.without_gpu = true;
  EXPECT_EQ(missing_here(kGames, insisting), "");
  Order quick = order;
  quick.scale = Scale::kQuick;
  EXPECT_EQ(missing_here(kGames, quick), "");
}

}  // namespace
}  // namespace agora::reproduce

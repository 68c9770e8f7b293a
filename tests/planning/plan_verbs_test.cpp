#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "support/program.h"

namespace agora {
namespace {

using testing::contents;
using testing::put;
using testing::Result;

using testing::shell;

const std::string kExamples = std::string(AGORA_SOURCE) + "/examples/";

TEST(PlanVerbs, JsonHasTheFixedKeys) {
  const Scratch scratch;
  const Result result =
      shell("agora plan solve " + kExamples + "cliff.map --method vi --json", scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = parse_json(result.out, "out");
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"model", "method", "states", "beta", "mu", "start",
                                            "value", "log_z", "residual", "sweeps", "seconds",
                                            "action", "policy"}));
  EXPECT_EQ(json["start"], "3,0");
  EXPECT_EQ(json["value"], -13.0);
  EXPECT_EQ(json["action"], "up");
  EXPECT_EQ(json["policy"], Json({1.0, 0.0, 0.0, 0.0}));
}

TEST(PlanVerbs, StartDistributionsGiveTheMean) {
  const Scratch scratch;
  const Result result = shell(
      "agora plan solve " + kExamples + "cliff.map --method vi --json --start '3,0:0.5 2,11:0.5'",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = parse_json(result.out, "out");
  EXPECT_EQ(json["value"], -7.0);
  EXPECT_TRUE(json["policy"].is_null());
}

TEST(PlanVerbs, WritesTableAndPictures) {
  const Scratch scratch;
  const Result result = shell(
      "agora plan solve frozenlake4x4 --method vi --out v.csv --picture m.png --report r.html && "
      "agora plan solve frozenlake4x4 --method vi --picture m.svg",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string table = contents(scratch / "v.csv");
  EXPECT_EQ(table.substr(0, table.find('\n')),
            "state,name,value,log_z,action,p_left,p_down,p_right,p_up");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 17);
  EXPECT_EQ(contents(scratch / "m.png").substr(1, 3), "PNG");
  EXPECT_NE(contents(scratch / "m.svg").find("<svg"), std::string::npos);
  EXPECT_NE(contents(scratch / "r.html").find("frozenlake4x4"), std::string::npos);
}

TEST(PlanVerbs, MistakesAreOneLineAndLeaveNothing) {
  const Scratch scratch;
  put(scratch / "ragged.map", "S..\n..\n");
  put(scratch / "bad.csv", "state,action,next_state,probability,reward\n0,0,1,.5,0\n");
  for (const auto& [command, words] : std::vector<std::pair<std::string, std::string>>{
           {"plan solve ragged.map", "ragged.map:2: the row has 2 cells"},
           {"plan solve bad.csv --out v.csv", "bad.csv:2: state '0', action '0'"},
           {"plan solve nowhere.csv", "nowhere.csv"},
           {"plan solve mazze", "did you mean 'maze'?"},
           {"plan solve maze --method vj", "did you mean 'vi'?"},
           {"plan solve maze --method vi --start 1,1", "unknown state '1,1'"},
           {"plan solve taxi --method vi --picture t.png", "'taxi' is no map"},
           {"plan solve maze --method vi --picture t.bmp", "should end in .png or .svg"},
           {"plan solve maze --method vi --out none/v.csv", "none"},
           {"plan convert maze --out m.map", "use csv or drn"},
           {"plan convert maze --out m.xyz", "no format has the extension '.xyz'"},
           {"plan learn maze --algorithm zz", "unknown algorithm 'zz'"},
           {"plan learn maze --alpha 2", "--alpha: expected above 0, at most 1, found 2"},
           {"plan learn maze --algorithm sarsa --mu -2", "sarsa takes no --mu; z-learning does"},
           {"plan solve maze --method vi --beta 2", "vi takes no --beta"},
           {"plan solve maze --method lp --max-sweeps 5", "lp takes no --max-sweeps"},
           {"plan learn maze --exploration greedy", "unknown strategy 'greedy'"}}) {
    const Result result = shell("agora " + command, scratch.path());
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_NE(result.err.find(words), std::string::npos) << command << "\n" << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "") << command;
  }
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
    left.insert(entry.path().filename().string());
  }
  EXPECT_EQ(left, (std::set<std::string>{"ragged.map", "bad.csv"}));
}

// The configuration of a run writes presets down, of whichever kind they are.
TEST(PlanVerbs, AnOptionThatChangesNothingIsTaken) {
  const Scratch scratch;
  EXPECT_EQ(shell("agora plan solve maze --method vi --beta 1", scratch.path()).status, 0);
  put(scratch / "c.toml", "method = \"lp\"\nmax-sweeps = 10000000\n");
  EXPECT_EQ(shell("agora plan solve 'maze(rows=5,cols=5)' --config c.toml", scratch.path()).status,
            0);
}

TEST(PlanVerbs, AnInterruptedRunEndsLikeAnUninterruptedOne) {
  const Scratch scratch;
  const std::string learn =
      "agora plan learn frozenlake4x4 --episodes 20000 --runs 3 --seed 5 --json";
  ASSERT_EQ(shell(learn + " --run whole", scratch.path()).status, 0);
  int interrupts = 0, status = 130;
  for (int i = 0; i < 200 && status == 130; ++i) {
    status =
        shell("timeout --preserve-status -s INT 0.1 " + learn + " --run pieces", scratch.path())
            .status;
    interrupts += status == 130;
    if (i == 20) status = shell(learn + " --run pieces", scratch.path()).status;
  }
  ASSERT_EQ(status, 0);
  EXPECT_EQ(contents(scratch / "whole/metrics.csv"), contents(scratch / "pieces/metrics.csv"));
  EXPECT_EQ(contents(scratch / "whole/checkpoint-20000.safetensors"),
            contents(scratch / "pieces/checkpoint-20000.safetensors"));
  RecordProperty("interrupts", interrupts);
}

TEST(PlanVerbs, AnInterruptSavesAndExits130) {
  const Scratch scratch;
  // However long a busy machine takes to begin: the signal comes a second after the run's folder.
  const Result result = shell(
      "me=$$; (until test -e r/config.toml; do sleep .05; done; sleep 1; kill -INT $me) & "
      "exec agora plan learn taxi --episodes 10000000 --run r",
      scratch.path());
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_TRUE(std::filesystem::exists(scratch / "r/state.json"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "r/result.json"));
}

}  // namespace
}  // namespace agora

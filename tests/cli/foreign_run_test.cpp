// `agora resume` of a folder that somebody else made: only runs go on, and only inside the folder.
#include <gtest/gtest.h>

#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::Result;
using testing::shell;

class ForeignRun : public ::testing::Test {
 protected:
  void config(const std::string& text) const {
    fs::create_directories(scratch / "run");
    scratch.put("run/config.toml", text + "\nversion = '0.1.0'\nformat = 1\n");
  }

  void expect_refused(const std::string& fragment) const {
    const Result result = shell("agora resume run", scratch.path());
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(fragment), std::string::npos) << result.err << "lacks " << fragment;
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"run"});
  }

  const Scratch scratch;
};

TEST_F(ForeignRun, OnlyRunsAreResumed) {
  for (const char* verb : {"plan solve", "plan convert", "resume", "list", "no such verb", "",
                           "plan  learn", "plan learn --report x"}) {
    config("verb = '" + std::string(verb) + "'\nMODEL = 'cliffwalking'\nout = 'stolen.csv'");
    expect_refused("expected a verb whose work is a run");
  }
  config("verb = 'reproduce'\nwhat = ['ch1-optimal-auction']\nout = 'stolen'");
  expect_refused("--run needs --task");
  config("verb = 'reproduce'\ntask = 'ch1-optimal-auction'\nseeds = '3,4'");
  expect_refused("takes --seed, not --seeds");
}

TEST_F(ForeignRun, OutputsStayInTheFolder) {
  for (const std::string& file :
       {std::string("stolen"), std::string("run/../stolen"), (scratch / "stolen").string(),
        std::string("../x"), std::string("runaway"), std::string("/dev/null")}) {
    config("verb = 'plan learn'\nMODEL = 'cliffwalking'\nepisodes = 5\nreport = '" + file + "'");
    expect_refused("outside of its folder");
    config("verb = 'auction train'\nmechanism = 'regretnet'\nsetting = '1x2'\nout = '" + file +
           "'");
    expect_refused("outside of its folder");
  }
  config("verb = 'plan learn'\nMODEL = '--report=stolen'");
  expect_refused("found the option '--report=stolen'");
  config("verb = 'plan learn'\nMODEL = 'cliffwalking'\nrun = 'stolen'");
  expect_refused("unknown key 'run'");
}

TEST_F(ForeignRun, OnesOwnOutputsTakeOneMoreWord) {
  const std::string learn = "agora plan learn cliffwalking --episodes 20 --runs 2 --run run ";
  ASSERT_EQ(shell(learn + "--report run/page.html", scratch.path()).status, 0);
  fs::remove(scratch / "run/page.html");
  EXPECT_EQ(shell("agora resume run", scratch.path()).status, 0);
  EXPECT_TRUE(fs::exists(scratch / "run/page.html"));

  fs::remove_all(scratch / "run");
  ASSERT_EQ(shell(learn + "--report page.html", scratch.path()).status, 0);
  fs::remove(scratch / "page.html");
  expect_refused("the run would write page.html outside of its folder");
  const std::string line = shell("agora resume run", scratch.path()).err;
  const size_t begin = line.find('`') + 1;
  const std::string told = line.substr(begin, line.rfind('`') - begin);
  EXPECT_EQ(shell(told, scratch.path()).status, 0) << told;
  EXPECT_TRUE(fs::exists(scratch / "page.html"));
}

TEST_F(ForeignRun, ChangedCheckpointsAreToldInOneLine) {
  ASSERT_EQ(shell("agora plan learn cliffwalking --episodes 20 --runs 2 --run run && "
                  "rm run/result.json && cp -r run whole",
                  scratch.path())
                .status,
            0);
  const auto changed = [&](const std::string& command) {
    ASSERT_EQ(shell("rm -rf run && cp -r whole run && " + command, scratch.path()).status, 0);
    const Result result = shell("agora resume run", scratch.path());
    EXPECT_EQ(result.status, 2) << command << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  };
  changed("sed -i 's/\"step\": 20/\"step\": 21/' run/state.json");
  changed(
      "sed -i 's/20/900/' run/state.json; mv run/checkpoint-20.safetensors "
      "run/checkpoint-900.safetensors");
  changed("rm run/checkpoint-20.safetensors");
  changed("sed -i 's/^episodes = .*/episodes = 10/' run/config.toml");
  changed(
      "sed -i 's/half_width/half_breadth/' run/checkpoint-20.safetensors; "
      "sed -i 's/half_width/x/' run/checkpoint-20.safetensors");
  changed("rm run/metrics.csv; mkdir -p run/metrics.csv/x");
  changed("ln -s /dev/null run/report.html");
  changed("mkfifo run/.pipe");
}

}  // namespace
}  // namespace agora

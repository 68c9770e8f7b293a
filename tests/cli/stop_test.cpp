// A signal ends long work within moments: one line that says what was saved, exit 128 + signal.
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Ended {
  int status;
  double seconds;  // from the signal on
  std::string errors;
};

// Runs `agora WORDS`, interrupts it `delay` after the file `begun` is there (if any), and waits for
// its end.
Ended interrupted(const Scratch& scratch, std::vector<std::string> words, double delay,
                  int signal = SIGINT, const std::string& begun = "") {
  words.insert(words.begin(), "agora");
  const std::string errors = (scratch / "errors").string();
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (!std::freopen(errors.c_str(), "w", stderr) || !std::freopen("/dev/null", "w", stdout)) {
      _exit(126);
    }
    if (chdir(scratch.path().c_str()) != 0) _exit(125);
    execv(AGORA_PROGRAM, arguments.data());
    _exit(127);
  }
  for (int k = 0; k < 600 && !begun.empty() && !fs::exists(scratch / begun); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  const auto begin = Clock::now();
  kill(child, signal);
  Ended ended{};
  waitpid(child, &ended.status, 0);
  ended.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  ended.errors = testing::contents(errors);
  return ended;
}

void expect_stopped(const Ended& ended, const std::string& what, int signal = SIGINT,
                    const std::string& saved = "nothing was saved") {
  ASSERT_TRUE(WIFEXITED(ended.status)) << what;
  EXPECT_EQ(WEXITSTATUS(ended.status), 128 + signal) << what << ": " << ended.errors;
  const std::string line = fmt::format("agora: interrupted by signal {}; {}", signal, saved);
  EXPECT_TRUE(ended.errors.starts_with(line)) << what << ": " << ended.errors;
  EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
  EXPECT_LT(ended.seconds, 10.0) << what;  // a loaded machine; it is moments otherwise
}

TEST(Stop, EndsEveryLongMethod) {
  const Scratch scratch;
  // Works that take minutes if nobody stops them.
  const std::vector<std::pair<std::string, std::string>> works{
      {"vi", "random(states=40000,branching=8,actions=8)"},
      {"vi-gauss-seidel", "random(states=40000,branching=8,actions=8)"},
      {"vi-prioritised", "random(states=40000,branching=8,actions=8)"},
      {"modified-pi", "random(states=40000,branching=8,actions=8)"},
      {"lp", "random(states=20000,branching=8)"},
      {"z-power", "benchmark-grid(n=700)"}};
  for (const auto& [method, model] : works) {
    std::vector<std::string> words{"plan", "solve", model, "--method", method};
    const bool thermal = method.starts_with("z");
    words.insert(words.end(),
                 {thermal ? "--mu" : "--discount", thermal ? "-1.3863" : "0.99999999"});
    expect_stopped(interrupted(scratch, words, 0.8), method);
  }
}

TEST(Stop, EndsEveryLongAuctionVerb) {
  const Scratch scratch;
  const std::vector<std::vector<std::string>> works{
      {"exact", "ama", "--setting", "3x4 uniform(0,1) / uniform(0,2) / uniform(0,3)"},
      {"exact", "lp", "--setting", "2x2", "--points", "11"},
      {"exact", "lp", "--setting", "2x2", "--points", "8", "--bayesian"},
      {"audit", "vcg", "--setting", "20x20", "--regret-profiles", "100000"},
      {"audit", "vcg", "--setting", "20x20", "--regret-profiles", "1", "--symmetry-profiles",
       "10000000"},
      {"eval", "vcg", "--setting", "3x3", "--profiles", "100000000000"},
      {"run", "vcg", "--setting", "3x3", "--draw", "100000000000", "--out", "o.csv"},
      {"reduce", "bundle", "--setting", "1x2 exponential(1)", "--choices", "1000000", "--profiles",
       "10000000", "--out", "m.json"},
      {"train", "algnet", "--setting", "5x10", "--recipe", "thesis", "--out", "m.safetensors"}};
  const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t k = 0; k < works.size(); ++k) {
    std::vector<std::string> words{"auction"};
    words.insert(words.end(), works[k].begin(), works[k].end());
    const int signal = signals[k % 3];
    expect_stopped(interrupted(scratch, words, 0.7, signal),
                   fmt::format("{}", fmt::join(words, " ")), signal);
  }
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"errors"});
}

TEST(Stop, SaysWhatWasSavedAndHowToGoOn) {
  const Scratch scratch;
  const std::vector<std::string> train{"auction",  "train",  "algnet", "--setting", "3x10",
                                       "--recipe", "thesis", "--run",  "long"};
  expect_stopped(interrupted(scratch, train, 1.0, SIGHUP, "long/config.toml"), "train", SIGHUP,
                 "saved at step ");
  EXPECT_TRUE(fs::exists(scratch / "long/state.json"));
  const Ended again = interrupted(scratch, {"resume", "long"}, 2.0, SIGTERM);
  expect_stopped(again, "resume", SIGTERM, "saved at step ");
  EXPECT_NE(again.errors.find("`agora resume long`"), std::string::npos) << again.errors;
  std::vector<std::string> seeds = train;
  seeds.back() = "both";
  seeds.insert(seeds.end(), {"--seeds", "1-2", "--threads", "2"});
  expect_stopped(interrupted(scratch, seeds, 0.5, SIGINT, "both/seed-2/config.toml"), "seeds",
                 SIGINT, "every seed is saved, go on with `agora resume both`");
  const std::vector<std::string> exact{"auction",    "exact",        "vcg",   "--setting", "3x3",
                                       "--profiles", "100000000000", "--out", "vcg.json"};
  expect_stopped(interrupted(scratch, exact, 0.5, SIGINT, "vcg.json"), "exact", SIGINT,
                 "wrote vcg.json");
}

// A thousand episodes of its curve's first point take minutes; one takes moments.
TEST(Stop, EndsLearningBetweenTwoEpisodes) {
  const Scratch scratch;
  const std::vector<std::string> learn{"plan",       "learn",   "maze(rows=101,cols=101)",
                                       "--episodes", "100000",  "--max-steps",
                                       "1000000",    "--alpha", "1e-9",
                                       "--runs",     "4",       "--run",
                                       "long"};
  expect_stopped(interrupted(scratch, learn, 1.0, SIGINT, "long/config.toml"), "learn", SIGINT,
                 "saved at step ");
}

TEST(Stop, EndsTheReadingOfALargeFile) {
  const Scratch scratch;
  const fs::path pipe = scratch / "endless.csv";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  // A file without end: rows as long as somebody reads them.
  const pid_t writer = fork();
  if (writer == 0) {
    std::ofstream out(pipe);
    out << "state,action,next_state,probability,reward\n";
    for (int64_t s = 0; out; ++s) out << s << ",go," << s + 1 << ",1,-1\n";
    _exit(0);
  }
  expect_stopped(interrupted(scratch, {"plan", "solve", pipe.string()}, 1.5), "reading");
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
}

}  // namespace
}  // namespace agora

// Ctrl-C ends long planning within moments: exit 130 and one line.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

// Runs `agora WORDS`, interrupts it after `delay`, and waits for its end.
Ended interrupted(const Scratch& scratch, std::vector<std::string> words, double delay) {
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
    execv(AGORA_PROGRAM, arguments.data());
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  const auto begin = Clock::now();
  kill(child, SIGINT);
  Ended ended{};
  waitpid(child, &ended.status, 0);
  ended.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  ended.errors = testing::contents(errors);
  return ended;
}

void expect_stopped(const Ended& ended, const std::string& what) {
  ASSERT_TRUE(WIFEXITED(ended.status)) << what;
  EXPECT_EQ(WEXITSTATUS(ended.status), 130) << what << ": " << ended.errors;
  EXPECT_EQ(ended.errors, "agora: interrupted by signal 2\n") << what;
  EXPECT_LT(ended.seconds, 10.0) << what;  // a loaded machine; it is moments otherwise
}

TEST(Stop, EndsEveryLongMethod) {
  const Scratch scratch;
  // Works that take minutes if nobody stops them.
  const std::vector<std::pair<std::string, std::string>> works{
      {"vi", "random(states=200000,branching=8,actions=8)"},
      {"vi-gauss-seidel", "random(states=200000,branching=8,actions=8)"},
      {"vi-prioritised", "random(states=200000,branching=8,actions=8)"},
      {"mpi", "random(states=200000,branching=8,actions=8)"},
      {"lp", "random(states=20000,branching=8)"},
      {"z-power", "benchmark-grid(n=700)"}};
  for (const auto& [method, model] : works) {
    const std::vector<std::string> words{"plan",       "solve",      model,  "--method", method,
                                         "--discount", "0.99999999", "--mu", "-1.3863"};
    expect_stopped(interrupted(scratch, words, 2.0), method);
  }
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

// A run that is killed at any moment goes on from a whole checkpoint to the same bits.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/json.h"
#include "base/rng.h"
#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// Starts the run, or goes on with it.
pid_t start(const Words& begin, const fs::path& run) {
  Words words = begin;
  if (fs::exists(run / "config.toml")) words = {"agora", "resume", run.string()};
  if (words == begin) words.insert(words.end(), {"--run", run.string()});
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(AGORA_PROGRAM, arguments.data());
    _exit(127);
  }
  return child;
}

int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// The result but for time and place, and the last checkpoint.
std::string outcome(const fs::path& run) {
  Json result = parse_json_file(run / "result.json");
  for (const char* key : {"seconds", "training_seconds", "run", "file"}) result.erase(key);
  const auto last = parse_json_file(run / "state.json").at("checkpoint").get<std::string>();
  return dump_json(result) + last + testing::contents(run / last);
}

// Kills the run at random moments, `kills` times in all; one signal in `mercy` can be caught.
void kill_and_resume(const Words& begin, int wanted, int mercy) {
  const Scratch scratch;
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(end_of(start(begin, scratch / "whole")), 0);
  const auto whole = std::chrono::steady_clock::now() - began;
  const std::string expected = outcome(scratch / "whole");

  Rng rng(2026);
  int kills = 0;
  for (int trial = 0; kills < wanted; ++trial) {
    const fs::path run = scratch / std::to_string(trial);
    for (int round = 0; round < 8; ++round) {
      const pid_t child = start(begin, run);
      std::this_thread::sleep_for(rng.uniform(0.0, 0.4) * whole);
      kill(child, round % mercy == mercy - 1 ? SIGTERM : SIGKILL);
      const int status = end_of(child);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;  // it was done before
      if (WIFSIGNALED(status)) ++kills;
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 143);
      }
    }
    ASSERT_EQ(end_of(start(begin, run)), 0);
    EXPECT_EQ(outcome(run), expected) << "trial " << trial;
  }
}

TEST(Kill, ResumesToTheSameBits) {
  kill_and_resume({"agora", "reproduce", "--task", "ch1-optimal-auction", "--seed", "5"}, 12, 4);
}

TEST(Kill, ResumesTrainingToTheSameBits) {
  for (const char* mechanism : {"regretnet", "algnet"}) {
    kill_and_resume({"agora", "auction", "train", mechanism, "--setting", "2x2", "--samples", "300",
                     "--batch", "16", "--iterations", "150", "--width", "16", "--regret-profiles",
                     "5", "--profiles", "500"},
                    4, 2);
  }
}

}  // namespace
}  // namespace agora

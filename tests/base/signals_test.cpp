#include "base/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"

namespace agora {
namespace {

// The status of a child that sends itself `signals` and saves at the first.
int status_of(const std::vector<int>& signals) {
  const pid_t child = fork();
  if (child == 0) {
    install_signal_handlers();
    for (const int signal : signals) raise(signal);
    try {
      throw_if_stopped();
    } catch (const Interrupted& interrupted) {
      _exit(128 + interrupted.signal());
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Signals, TheFirstAsksTheSecondKills) {
  EXPECT_EQ(WEXITSTATUS(status_of({})), 0);
  EXPECT_EQ(WEXITSTATUS(status_of({SIGINT})), 130);
  EXPECT_EQ(WEXITSTATUS(status_of({SIGTERM})), 143);
  EXPECT_EQ(WEXITSTATUS(status_of({SIGHUP})), 129);
  EXPECT_EQ(WEXITSTATUS(status_of({SIGHUP, SIGHUP})), 129);  // from the shell and the terminal
  const int killed = status_of({SIGINT, SIGTERM});
  EXPECT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(WTERMSIG(killed), SIGTERM);
}

TEST(Signals, StopIsSeenAndThrown) {
  EXPECT_FALSE(stop_requested());
  EXPECT_NO_THROW(throw_if_stopped());
  request_stop(SIGINT);
  EXPECT_TRUE(stop_requested());
  EXPECT_THROW(throw_if_stopped(), Interrupted);
  request_stop(0);
}

TEST(Signals, TheLineSaysWhatWasSaved) {
  const auto line = [] {
    request_stop(SIGTERM);
    try {
      throw_if_stopped();
    } catch (const Interrupted& stop) {
      request_stop(0);
      return std::string(stop.what());
    }
    return std::string();
  };
  note_saved("");
  EXPECT_EQ(line(), "interrupted by signal 15; nothing was saved");
  note_saved("wrote m.json");
  EXPECT_EQ(line(), "interrupted by signal 15; wrote m.json");
  note_saved("");
}

}  // namespace
}  // namespace agora

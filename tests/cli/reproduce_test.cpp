// `agora reproduce`: what became of each experiment, and that nothing of a killed one is left.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "base/run_folder.h"
#include "support/program.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

const char* const kQuick = "ch2-decision-tree";
const char* const kLong = "ch5-known-optima";  // half a minute, and learns at once

testing::Result reproduce(const std::string& words, const Scratch& scratch) {
  return testing::shell("agora reproduce --out out " + words, scratch.path());
}

Json results(const Scratch& scratch) { return parse_json_file(scratch / "out/results-quick.json"); }

fs::path run_of(const Scratch& scratch, const std::string& name, int seed) {
  return scratch.path() / "out/quick" / (name + "-seed-" + std::to_string(seed));
}

// In a process group of its own, as a shell starts it.
pid_t start(const Scratch& scratch, const std::string& name) {
  const pid_t child = fork();
  if (child > 0) return child;
  setpgid(0, 0);
  if (chdir(scratch.path().c_str()) != 0 || !std::freopen("said", "w", stdout) ||
      !std::freopen("errors", "w", stderr)) {
    _exit(126);
  }
  execl(AGORA_PROGRAM, "agora", "reproduce", "--out", "out", name.c_str(), nullptr);
  _exit(127);
}

bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << part << "\n  is not in: " << whole;
}

TEST(Reproduce, TellsAnErrorAndEndsWithOne) {
  const Scratch scratch;
  fs::create_directories(scratch / "out/quick");
  scratch.put("out/quick/ch2-decision-tree-seed-0", "no folder");  // where the run should be
  const auto result = reproduce("ch2-decision-tree ch2-slippery-cliff --strict", scratch);
  EXPECT_EQ(result.status, 1);
  expect_in("FAILED     ch2-decision-tree", result.out);
  expect_in("ch2-decision-tree-seed-0", result.out);  // the line of the error
  expect_in("1 reproduced, 0 missed, 1 failed, 0 on request\n", result.out);
  expect_in("reproduce: failed: ch2-decision-tree\n", result.err);
  EXPECT_EQ(results(scratch)["failed"], 1);
  expect_in("failed: ", testing::contents(scratch / "out/report-quick.html"));
  // Once the cause is gone it runs; the other is not run again.
  fs::remove(scratch / "out/quick/ch2-decision-tree-seed-0");
  EXPECT_EQ(reproduce("ch2-decision-tree ch2-slippery-cliff --strict", scratch).status, 0);
  EXPECT_EQ(results(scratch)["reproduced"], 2);
}

TEST(Reproduce, EndsWithThreeIfARuleIsMissedAndItIsStrict) {
  const Scratch scratch;
  EXPECT_EQ(reproduce("ch1-optimal-auction --strict", scratch).status, 0);
  const fs::path file = run_of(scratch, "ch1-optimal-auction", 1) / "result.json";
  Json result = parse_json_file(file);
  result["values"]["markets"][0]["reserve"] = 0.51;
  write_json(file, result);
  const auto loose = reproduce("ch1-optimal-auction", scratch);
  EXPECT_EQ(loose.status, 0);
  expect_in("MISS       ch1-optimal-auction", loose.out);
  expect_in("1 bidder, U[0,1]: reserve: 0.51, expected 0.5 ± 1e-05", loose.out);
  const auto strict = reproduce("ch1-optimal-auction --strict", scratch);
  EXPECT_EQ(strict.status, 3);
  EXPECT_EQ(strict.err.substr(strict.err.rfind("agora:")),
            "agora: reproduce: missed: ch1-optimal-auction\n");
  // An error weighs more.
  scratch.put("out/quick/ch2-decision-tree-seed-0", "no folder");
  EXPECT_EQ(reproduce("ch1-optimal-auction ch2-decision-tree --strict", scratch).status, 1);
}

TEST(Reproduce, MeetsTheRulesOfTheQuickOnes) {
  const Scratch scratch;
  const auto result = reproduce("chapter 1 ch2-contraction ch2-decision-tree --strict", scratch);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  expect_in("3 reproduced, 0 missed, 0 failed, 0 on request\n", result.out);
  const Json all = results(scratch)["experiments"];
  EXPECT_EQ(all.size(), 3u);
  for (const Json& each : all) {
    EXPECT_EQ(each["verdict"], "reproduced") << each["name"];
    EXPECT_FALSE(each["findings"].empty());
    for (const Json& one : each["findings"]) EXPECT_EQ(one["verdict"], "reproduced") << one["what"];
  }
}

TEST(Reproduce, RunsTheSeedsThatAreNamed) {
  const Scratch scratch;
  const testing::Result told = reproduce(std::string(kQuick) + " --seeds 2,5", scratch);
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_TRUE(fs::exists(run_of(scratch, kQuick, 2)));
  EXPECT_TRUE(fs::exists(run_of(scratch, kQuick, 5)));
  EXPECT_FALSE(fs::exists(run_of(scratch, kQuick, 1)));
  expect_in(std::string(kQuick) + " --scale quick --seeds 2,5",
            read_file(scratch / "out/report-quick.html"));
  const testing::Result both = reproduce(std::string(kQuick) + " --seeds 2 --seed 1", scratch);
  EXPECT_EQ(both.status, 2);
  expect_in("--seed and --seeds exclude each other", both.err);
  for (const char* wrong : {"5-2", "''"}) {
    EXPECT_EQ(reproduce(std::string(kQuick) + " --seeds " + wrong, scratch).status, 2) << wrong;
  }
}

TEST(Reproduce, ListsWhatIsOnRequest) {
  const Scratch scratch;
  const auto listed = testing::shell("agora reproduce list --json", scratch.path());
  const Json all = parse_json(listed.out, "list");
  for (const Json& each : all) {
    EXPECT_EQ(each["on_request"], each["name"] == "ch5-large") << each["name"];
  }
}

TEST(Reproduce, RunsAgainWhatAnotherBuildMade) {
  const Scratch scratch;
  ASSERT_EQ(reproduce(kQuick, scratch).status, 0);
  const fs::path file = run_of(scratch, kQuick, 0) / "result.json";
  Json result = parse_json_file(file);
  const auto changed = fs::last_write_time(file);
  ASSERT_EQ(reproduce(kQuick, scratch).status, 0);
  EXPECT_EQ(fs::last_write_time(file), changed);  // this build's is kept
  const Json whole = result;
  result["recipe"] = "of another build";
  result["values"] = nullptr;
  write_json(file, result);
  ASSERT_EQ(reproduce(kQuick, scratch).status, 0);
  const Json again = parse_json_file(file);
  EXPECT_EQ(again["values"], whole["values"]);
  EXPECT_EQ(again["recipe"], whole["recipe"]);
}

TEST(Reproduce, LeavesNoChildrenWhenItIsKilled) {
  const Scratch scratch;
  const pid_t parent = start(scratch, kLong);
  const fs::path run = run_of(scratch, kLong, 1);
  ASSERT_TRUE(comes_true([&] { return process_in(run).has_value(); }));
  ASSERT_NE(process_in(run), std::to_string(parent));
  kill(parent, SIGKILL);
  end_of(parent);
  EXPECT_TRUE(comes_true([&] { return !process_in(run); }));
  EXPECT_FALSE(fs::exists(run / "result.json"));  // it did not merely come to its end
}

TEST(Reproduce, StartsAgainAtOnceAfterAKill) {
  const Scratch whole;
  ASSERT_EQ(reproduce("ch1-optimal-auction", whole).status, 0);
  const Json expected =
      parse_json_file(run_of(whole, "ch1-optimal-auction", 1) / "result.json").at("values");
  const Scratch scratch;
  const fs::path run = run_of(scratch, "ch1-optimal-auction", 1);
  for (int kills = 0; kills < 3; ++kills) {
    const pid_t parent = start(scratch, "ch1-optimal-auction");
    ASSERT_TRUE(
        comes_true([&] { return process_in(run).has_value() || fs::exists(run / "result.json"); }));
    kill(parent, SIGKILL);
    end_of(parent);
  }
  const auto result = reproduce("ch1-optimal-auction", scratch);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(parse_json_file(run / "result.json").at("values"), expected);
}

TEST(Reproduce, SavesAndTellsWhatIsLeftOnCtrlC) {
  const Scratch scratch;
  const pid_t parent = start(scratch, kLong);
  const fs::path run = run_of(scratch, kLong, 1);
  ASSERT_TRUE(comes_true([&] { return process_in(run).has_value(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(-parent, SIGINT);  // a terminal's Ctrl-C goes to the whole group
  EXPECT_EQ(end_of(parent), 130);
  EXPECT_TRUE(fs::exists(run / "state.json"));  // the child was asked once, and saved
  const std::string said = testing::contents(scratch / "said");
  expect_in(std::string("not run    ") + kLong, said);
  expect_in("0 reproduced, 0 missed, 0 failed, 0 on request, 1 not run\n", said);
}

}  // namespace
}  // namespace agora

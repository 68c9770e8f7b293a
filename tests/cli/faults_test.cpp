// What goes wrong around the program is one line and status 2, never an internal fault.
#include <gtest/gtest.h>

#include "support/program.h"

namespace agora {
namespace {

using testing::Result;
using testing::shell;

void expect_one_line(const std::string& command, const std::string& fragment,
                     const Scratch& scratch) {
  const Result result = shell(command, scratch.path());
  EXPECT_EQ(result.status, 2) << command << ": " << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << command << result.err;
  EXPECT_LT(result.err.size(), 300u) << command;
  EXPECT_EQ(result.err.rfind("agora: ", 0), 0u) << command << result.err;
  EXPECT_NE(result.err.find(fragment), std::string::npos) << command << ": " << result.err;
}

const std::vector<std::string> kPrints{"list",
                                       "list --json",
                                       "--help",
                                       "plan",
                                       "plan solve --help",
                                       "version",
                                       "auction list",
                                       "plan list",
                                       "completion bash",
                                       "reproduce list",
                                       "plan solve cliffwalking",
                                       "plan show cliffwalking --json",
                                       "auction eval myerson --setting 1x1 --profiles 100 --json"};

TEST(Faults, StandardOutputThatIsFullOrClosed) {
  const Scratch scratch;
  for (const std::string& words : kPrints) {
    expect_one_line("agora " + words + " >/dev/full",
                    "cannot write to standard output: No space left on device", scratch);
    expect_one_line("agora " + words + " >&-", "cannot write to standard output", scratch);
  }
}

TEST(Faults, AReaderThatLeavesIsNoFault) {
  const Scratch scratch;
  for (const char* before : {"", "trap '' PIPE; "}) {
    const Result result =
        shell(std::string(before) + "(sleep .2; agora list) | true; exit ${PIPESTATUS[0]}",
              scratch.path());
    EXPECT_EQ(result.status, 141);
    EXPECT_EQ(result.err, "");
  }
}

TEST(Faults, StandardErrorThatIsFullOrClosed) {
  const Scratch scratch;
  for (const char* end : {" 2>/dev/full", " 2>&-"}) {
    EXPECT_EQ(shell(std::string("agora nothing") + end, scratch.path()).status, 2);
    EXPECT_EQ(
        shell(std::string("agora plan convert cliffwalking --out m.csv") + end, scratch.path())
            .status,
        0);
  }
}

TEST(Faults, NumbersOutOfRange) {
  const Scratch scratch;
  const auto seeds = [&](const std::string& value, const std::string& fragment) {
    expect_one_line("agora auction eval myerson --setting 1x1 --profiles 10 --seed '" + value + "'",
                    fragment, scratch);
  };
  const std::string whole = "expected a whole number from 0 to 18446744073709551615";
  for (const char* value : {"18446744073709551616", "99999999999999999999", "-1", "1.5", "nan", "",
                            "x", "1e3", "0x10", " 1", "1 "}) {
    seeds(value, whole);
  }
  seeds(std::string(1000, '9'), whole);
  const Result most =
      shell("agora plan solve cliffwalking --seed 18446744073709551615", scratch.path());
  EXPECT_EQ(most.status, 0) << most.err;
  for (const char* value : {"99999999999999999999", "-99999999999999999999", "9223372036854775808",
                            "1e308", "nan", "", "x"}) {
    expect_one_line(
        std::string("agora auction train regretnet --setting 1x2 --out m.safetensors ") +
            "--samples '" + value + "'",
        "--samples: expected a whole number", scratch);
    expect_one_line(std::string("agora plan learn cliffwalking --episodes '") + value + "'",
                    "--episodes: expected a whole number", scratch);
  }
  for (const char* value : {"nan", "", "x", "1e999", "1,5", "0.5.5"}) {
    expect_one_line(std::string("agora plan solve cliffwalking --beta '") + value + "'",
                    "--beta: expected a number", scratch);
    expect_one_line(std::string("agora plan solve cliffwalking --discount '") + value + "'",
                    "--discount: expected a number", scratch);
  }
}

TEST(Faults, RewardsThatCannotBeAdded) {
  const Scratch scratch;
  scratch.put("l.map", "S.2G\n");
  scratch.put("m.csv", "state,action,next_state,probability,reward\na,go,b,1,1e308\n");
  for (const char* words :
       {"solve l.map --step-reward 1e308", "solve l.map --step-reward -1e308 --method vi",
        "solve l.map --step-reward=-4e307", "learn l.map --goal-reward 1e308 --episodes 2",
        "show l.map --pit-reward 1e308 --step-reward 1e300", "solve m.csv"}) {
    expect_one_line(std::string("agora plan ") + words, "expected at most 1e+100 in size", scratch);
  }
}

TEST(Faults, NumbersAreDecimal) {
  const Scratch scratch;
  const auto printed = [&](const std::string& seed) {
    return testing::masked(
        shell("agora auction eval myerson --setting 1x1 --profiles 10 --json --seed " + seed,
              scratch.path())
            .out);
  };
  EXPECT_EQ(printed("010"), printed("10"));
  EXPECT_EQ(printed("+10"), printed("10"));
  EXPECT_NE(printed("8"), printed("10"));
}

TEST(Faults, PathsThatCannotBeUsed) {
  const Scratch scratch;
  shell("ln -s b a; ln -s a b; mkdir folder; touch empty.csv empty.json empty.toml empty.map",
        scratch.path());
  for (const char* input : {"a", "./a", "a/b.csv", "folder/", "./folder", "none.csv", "empty.csv",
                            "empty.map", "/dev/zero", "/dev/full"}) {
    const std::string path = input;
    expect_one_line("agora plan solve --format csv " + path, "", scratch);
    expect_one_line("agora auction eval myerson --values " + path, "", scratch);
    if (path != "empty.csv" && path != "empty.map") {
      expect_one_line("agora plan solve cliffwalking --config " + path, "", scratch);
    }
    expect_one_line("agora auction eval " + path + " --setting 1x1", "", scratch);
    expect_one_line("agora resume " + path, "", scratch);
    expect_one_line("agora report " + path, "", scratch);
  }
  // Too long, and of two lines.
  expect_one_line(R"~(agora agent eval "$(printf 'x\n%0254d' 0)")~", "", scratch);
  for (const char* output : {"a.csv", "a/b.csv", "folder", "none/m.csv", "/dev/full"}) {
    shell("ln -s b.csv a.csv; ln -s a.csv b.csv", scratch.path());
    expect_one_line(std::string("agora plan convert cliffwalking --out-format csv --out ") + output,
                    "", scratch);
  }
}

TEST(Faults, ConfigurationsThatMakeNoSense) {
  const Scratch scratch;
  const auto refused = [&](const std::string& toml, const std::string& fragment) {
    scratch.put("c.toml", toml);
    expect_one_line("agora auction exact lp --setting 1x1 --config c.toml", fragment, scratch);
  };
  refused("bayesian = []", "c.toml:1: bayesian: expected a value, found an empty list");
  refused("profiles = []", "empty list");
  refused("profiles = [[]]", "empty list");
  refused("profiles = 1979-05-27", "expected a number");
  refused("profiles = {a = 1}", "expected a number");
  refused("seed = 99999999999999999999", "c.toml:1:");
  refused("seed = -1", "--seed");
  refused("seed = nan", "--seed");
}

}  // namespace
}  // namespace agora

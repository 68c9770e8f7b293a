// Unit demand, budgets and reserves of each item as a user meets them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "support/program.h"

namespace agora {
namespace {

using testing::put;
using testing::Result;
using testing::shell;

TEST(LimitedMarketVerbs, AreMadeSavedAndRun) {
  const Scratch scratch;
  const Result made = shell(
      "agora auction exact vcg --setting 2x3 --demand unit --reserve 0.3,0.4,0.5 --profiles 2000 "
      "--regret-profiles 5 --out m.safetensors --json",
      scratch.path());
  ASSERT_EQ(made.status, 0) << made.err;
  const Json json = parse_json(made.out, "stdout");
  EXPECT_EQ(json["setting"], "2x3; demand unit");
  EXPECT_LE(json["regret"]["strong"]["max"].get<double>(), 1e-12);
  EXPECT_LT(json["sale_rate"].get<double>(), 2.0 / 3.0 + 1e-9);  // three items, two who want one
  // What it was made for comes with it.
  EXPECT_EQ(shell("agora auction eval m.safetensors --profiles 100", scratch.path()).status, 0);
  const Result other =
      shell("agora auction eval m.safetensors --setting 2x3 --profiles 100", scratch.path());
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("vcg was made for unit demand"), std::string::npos) << other.err;
  put(scratch / "bids.csv", "b1i1,b1i2,b1i3,b2i1,b2i2,b2i3\n0.9,0.8,0,0.7,0.2,0\n");
  const Result run =
      shell("agora auction run m.safetensors --bids bids.csv --out o.csv --wide --seed 1",
            scratch.path());
  ASSERT_EQ(run.status, 0) << run.err;
  // By hand: 2 for the first bidder and 1 for the second is worth 1.5, less reserves .8. Without
  // the first bidder .4, without the second .6: they pay .4 + .4 - .4 and .3 + .6 - .4.
  const std::string outcome = testing::contents(scratch / "o.csv");
  EXPECT_NE(outcome.find("\n1,0,1,0,1,0,0,0.4,0.5,0,1,0,1,0,0,0.4"), std::string::npos) << outcome;
}

TEST(LimitedMarketVerbs, TellMistakesInOneLine) {
  const Scratch scratch;
  std::string rows = "b1i1,b1i2,b2i1,b2i2\n";
  for (int k = 0; k < 100; ++k) rows += fmt::format("{},{},{},{}\n", k % 7, k % 5, k % 11, k % 3);
  put(scratch / "values.csv", rows);
  const std::vector<std::pair<const char*, const char*>> mistakes{
      {"agora auction exact ama --setting 2x2 --demand unit", "does not take unit demand"},
      {"agora auction exact bundle --values values.csv --demand unit", "vcg"},
      {"agora auction train tariff --setting 2x2 --budget 1 --out t.json", "does not take budgets"},
      {"agora auction exact vcg --setting 2x2 --demand one", "unit"},
      {"agora auction exact bundle --setting 2x2 --budget 1,2,3", "1 or 2 budgets"},
      {"agora auction exact bundle --setting 2x2 --budget x", "--budget"},
      {"agora auction exact second-price --setting 2x2 --reserve 1,x", "--reserve"},
      {"agora auction exact second-price --setting 2x2 --reserve 1,-2", "--reserve"},
      {"agora auction exact second-price --setting 2x2 --reserve 1,2,3", "1 or 2 numbers"},
      {"agora auction eval m.json --demand unit", "m.json"},
      {"agora auction exact lp --bayesian --setting 2x1 --budget 0.5 --points 3", "budgets"}};
  for (const auto& [command, words] : mistakes) {
    const Result result = shell(command, scratch.path());
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_NE(result.err.find(words), std::string::npos) << command << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

// Where bidders share the weather, virtual values would be wrong, which is told.
TEST(PastValueVerbs, WarnOfBiddersWhoDependOnEachOther) {
  const Scratch scratch;
  std::string together = "b1i1,b2i1\n", apart = together;
  for (int k = 0; k < 200; ++k) {
    together += fmt::format("{},{}\n", 10 + k % 17, 10 + k % 17 + k % 3);
    apart += fmt::format("{},{}\n", 10 + k % 17, 10 + k % 11);
  }
  put(scratch / "together.csv", together);
  put(scratch / "apart.csv", apart);
  for (const char* name : {"myerson", "itemwise-myerson", "bundle"}) {
    const auto told = [&](const char* file) {
      const Result result =
          shell(fmt::format("agora auction exact {} --values {}.csv", name, file), scratch.path());
      EXPECT_EQ(result.status, 0) << result.err;
      return result.err.find("depend on each other") != std::string::npos;
    };
    EXPECT_TRUE(told("together")) << name;
    EXPECT_FALSE(told("apart")) << name;
  }
}

// Networks and tariffs learn with limits, and a run remembers them.
TEST(LimitedMarketVerbs, AreLearnedAndResumed) {
  const Scratch scratch;
  for (const char* what : {"regretnet --setting 2x2 --demand unit --batch 16",
                           "equivariantnet --setting 2x2 --demand unit --batch 16",
                           "algnet --setting 2x2 --demand unit --batch 16",
                           "tariff --setting 2x2 --demand unit --budget 0.4,0.6 --batch 16",
                           "menu-net --setting 1x3 --demand unit --budget 0.5 --batch 16"}) {
    const std::string name = std::string(what).substr(0, std::string(what).find(' '));
    const Result trained = shell("agora auction train " + std::string(what) +
                                     " --iterations 5 --profiles 200 "
                                     "--regret-profiles 0 --json --run " +
                                     name,
                                 scratch.path());
    ASSERT_EQ(trained.status, 0) << what << trained.err;
    const Json json = parse_json(trained.out, "stdout");
    EXPECT_NE(json["setting"].get<std::string>().find("; demand unit"), std::string::npos);
    EXPECT_EQ(json["ir_violation"].get<double>() > 1e-9, false);
    const Result again = shell("agora resume " + name, scratch.path());
    EXPECT_EQ(again.status, 0) << again.err;
    const Result audit = shell(
        "agora auction eval " + name + "/mechanism.safetensors --profiles 50", scratch.path());
    EXPECT_EQ(audit.status, 0) << audit.err;
  }
}

TEST(LimitedMarketVerbs, AreDesignedFor) {
  const Scratch scratch;
  const Result result = shell(
      "agora auction design --setting 1x2 --demand unit --minutes 0.02 --profiles 20000 --json",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = parse_json(result.out, "stdout");
  EXPECT_NEAR(json["kinds"][0]["revenue"]["mean"].get<double>(), 0.3849, 0.01);
  EXPECT_GE(json["bounds"]["welfare"].get<double>(), 0.64);  // the better of two
  EXPECT_LE(json["bounds"]["welfare"].get<double>(), 0.69);
  EXPECT_TRUE(json["not_tried"].contains("bundle"));
}

}  // namespace
}  // namespace agora

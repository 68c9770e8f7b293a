// The example at the end of every verb's help works, as printed, in an empty folder.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "cli/verb.h"
#include "support/program.h"

namespace agora {
namespace {

class Example : public ::testing::TestWithParam<std::string> {
 protected:
  const cli::Verb& verb() const {
    return *std::find_if(cli::verbs().begin(), cli::verbs().end(),
                         [](const cli::Verb& each) { return each.name == GetParam(); });
  }
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const cli::Verb& each : cli::verbs()) all.push_back(each.name);
  return all;
}

// What an example has to print, or write into `file`.
struct Expected {
  std::string pattern;
  std::string file = {};
};

const std::map<std::string, std::vector<Expected>> kExpected{
    {"agent act", {{"row,action,p0,p1,p2,p3\n0,[0-3],0\\.[0-9]+,"}}},
    {"agent eval", {{"50 episodes|64 episodes"}}},
    {"agent list", {{"\n +leep +linked ensembles"}, {"\n +maze +"}}},
    {"agent play", {{"level [0-9]+ +return +(10|0) "}, {"^\x89PNG", "maze.png"}}},
    {"agent train", {{"unseen +[0-9.]+ "}, {"\n1,[^\n]*\n", "runs/maze/metrics.csv"}}},
    // .3 + 2 (.2), and (√.5 + √.3 + √.2)² - 1
    {"agent epistemic", {{"with memory +-0\\.700000"}, {"without memory +-1\\.89695"}}},
    {"auction audit", {{"revenue +0\\.6[5-8]"}, {"regret, strong +mean 0 "}}},  // 2/3
    {"auction design", {{"Best: (ama-tariff|learned-ama|sifted-ama)\\. A winner pays"}}},
    {"auction eval", {{"\"mean\":1\\.6[4-9]"}}},    // 2 (1/2 + 1/3)
    {"auction exact", {{"revenue +0\\.83[0-6]"}}},  // 5/6
    {"auction list", {{"\n +vcg +the efficient auction"}}},
    {"auction reduce", {{"menu of 2 choices"}, {"1\\.0,\\s+0\\.81649", "menu.json"}}},  // √(2/3)
    {"auction run", {{"revenue 0\\.9|revenue 1\\.0"}, {"\n1000,3,2,[01]\n$", "outcome.csv"}}},  // 1
    {"auction train", {{"regret, grid"}, {"\n200,[^\n]*\n$", "runs/regretnet-1x2/metrics.csv"}}},
    {"completion", {{"\ncomplete [^\n]*-F _agora agora\n", "agora-completion.bash"}}},
    {"list", {{"\n +frozenlake4x4 "}, {"\n +regretnet "}, {"\n +ch2-decision-tree "}}},
    {"plan convert", {{"16 states"}, {"\n\"2,2\",down,\"3,2\",0\\.333[0-9]*,0\n", "lake.csv"}}},
    {"plan learn", {{"greedy +-13 "}, {"<svg", "learning.html"}}},  // the shortest way
    {"plan list", {{"\n +maze +"}}},
    {"plan show", {{"\\^!{10}G\n"}}},
    {"plan solve", {{"action +down"}, {"^\x89PNG", "maze.png"}}},
    {"report",
     {{"report: "},
      {"values.profiles", "runs/reproduce/quick/ch1-optimal-auction-seed-1/report.html"}}},
    {"reproduce", {{"1 reproduced, 0 missed, 0 failed"}}},
    {"resume", {{"\"values\"", "runs/reproduce/quick/ch1-optimal-auction-seed-1/result.json"}}},
    {"version", {{"\"version\":\"[0-9]+\\.[0-9]+\\.[0-9]+\""}}},
};

TEST_P(Example, Works) {
  const Scratch scratch;
  if (GetParam() == "resume" || GetParam() == "report") {  // they need a run to go on from
    ASSERT_EQ(testing::shell("agora reproduce ch1-optimal-auction", scratch.path()).status, 0);
  }
  const testing::Result result = testing::shell(verb().example, scratch.path());
  EXPECT_EQ(result.status, 0) << result.err;
  ASSERT_TRUE(kExpected.contains(GetParam())) << "say what it should print";
  for (const auto& [pattern, file] : kExpected.at(GetParam())) {
    const std::string text = file.empty() ? result.out : testing::contents(scratch / file);
    EXPECT_TRUE(std::regex_search(text, std::regex(pattern)))
        << pattern << " in " << (file.empty() ? text : file);
  }
}

TEST_P(Example, HelpTellsIt) {
  const Scratch scratch;
  const testing::Result help = testing::shell("agora " + GetParam() + " --help", scratch.path());
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find(verb().example), std::string::npos);
  EXPECT_NE(help.out.find(verb().summary), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Verbs, Example, ::testing::ValuesIn(names()), [](const auto& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace agora

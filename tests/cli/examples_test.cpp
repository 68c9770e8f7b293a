// The example at the end of every verb's help works, as printed, in an empty folder.
#include <gtest/gtest.h>

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

TEST_P(Example, Works) {
  const Scratch scratch;
  if (GetParam() == "resume" || GetParam() == "report") {  // they need a run to go on from
    ASSERT_EQ(testing::shell("agora reproduce ch1-optimal-auction", scratch.path()).status, 0);
  }
  const testing::Result result = testing::shell(verb().example, scratch.path());
  EXPECT_EQ(result.status, 0) << result.err;
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

// What an evaluation says of itself.
#include <gtest/gtest.h>

#include "base/json.h"
#include "support/program.h"

namespace agora {
namespace {

TEST(AgentEval, SaysWithWhichMemoryAndSeedItPlayed) {
  const Scratch folder;
  const auto found = [&](const std::string& options) {
    const testing::Result told = testing::shell(
        "agora agent eval random --env maze --episodes 2 --environments 2 --json" + options,
        folder.path());
    EXPECT_EQ(told.status, 0) << told.err;
    return parse_json(told.out, "the result");
  };
  const Json plain = found(""), remembering = found(" --recall 0.25 --seed 3");
  EXPECT_EQ(plain["recall"].get<double>(), 0);
  EXPECT_EQ(plain["seed"].get<int>(), 0);
  EXPECT_EQ(remembering["recall"].get<double>(), 0.25);
  EXPECT_EQ(remembering["seed"].get<int>(), 3);
}

}  // namespace
}  // namespace agora

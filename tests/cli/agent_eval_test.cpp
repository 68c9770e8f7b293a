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

// A policy that has an explorer plays with less or more of it; others have none to tell.
TEST(AgentEval, TellsAnExplorerWhenToAct) {
  const Scratch folder;
  const auto shell = [&](const std::string& words) {
    return testing::shell("agora agent " + words, folder.path());
  };
  const std::string small =
      " --env maze --steps 2000 --rate 0.01 --levels 3 --episodes 3 --environments 6"
      " --rollout 8 --minibatches 1 --out ";
  ASSERT_EQ(shell("train leep-expgen --members 2" + small + "e.safetensors").status, 0);
  ASSERT_EQ(shell("train ppo" + small + "p.safetensors").status, 0);
  const auto found = [&](const std::string& options) {
    const testing::Result told = shell("eval e.safetensors --episodes 8 --json" + options);
    EXPECT_EQ(told.status, 0) << told.err;
    return parse_json(told.out, "the result");
  };
  const Json own = found(""), never = found(" --agree 0"), always = found(" --agree 1");
  EXPECT_EQ(own["agree"].get<double>(), 0.75);
  EXPECT_EQ(own["explore_steps"].get<double>(), 5);
  EXPECT_EQ(never["agree"].get<double>(), 0);
  EXPECT_NE(never["length"].get<double>(), always["length"].get<double>());
  EXPECT_EQ(found(" --agree 0 --explore-steps 9")["length"].get<double>(),
            never["length"].get<double>());
  const testing::Result none = shell("eval p.safetensors --episodes 2 --agree 0.5");
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err, "agora: --agree: the policy has no explorer\n");
  EXPECT_EQ(shell("eval random --env maze --explore-steps 2").status, 2);
}

}  // namespace
}  // namespace agora

// Where the time of a training went.
#include <gtest/gtest.h>

#include "base/json.h"
#include "support/program.h"

namespace agora {
namespace {

TEST(Profiles, AddUpToTheTimeOfATraining) {
  const Scratch folder;
  const std::string how =
      " --env maze --levels 3 --steps 64 --environments 4 --episodes 1 --profile";
  const testing::Result told =
      testing::shell("agora agent train ppo" + how + " --rollout 16 --minibatches 2 --out p --json",
                     folder.path());
  ASSERT_EQ(told.status, 0) << told.err;
  const Json found = parse_json(told.out, "the result");
  double sum = 0;
  for (const char* part : {"environment", "upload", "inference", "learning", "rest"}) {
    const double seconds = found["profile"][part].get<double>();
    EXPECT_GE(seconds, 0) << part;
    sum += seconds;
  }
  EXPECT_GT(found["profile"]["learning"].get<double>(), 0);
  EXPECT_NEAR(sum, found["seconds"].get<double>(), 1e-6);

  const testing::Result refused =
      testing::shell("agora agent train dqn" + how + " --out q", folder.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "agora: --profile: dqn does not tell where its time goes\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "q"));
}

// A run that is done makes no more steps, however often it is called again.
TEST(Profiles, SpeedIsOfTheStepsJustMade) {
  const Scratch folder;
  const std::string train =
      "agora agent train ppo --env tabular --env-model 'maze(rows=5,cols=5,seed=3)' --levels 1 "
      "--steps 64 --environments 4 --episodes 1 --rollout 16 --minibatches 2 --run run --json";
  for (const bool again : {false, true}) {
    const testing::Result told = testing::shell(train, folder.path());
    ASSERT_EQ(told.status, 0) << told.err;
    const auto speed = parse_json(told.out, "the result")["steps_per_second"].get<double>();
    EXPECT_EQ(speed > 0, !again) << speed;
  }
}

}  // namespace
}  // namespace agora

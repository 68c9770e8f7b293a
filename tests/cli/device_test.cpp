// A device that is not there is one line, whatever the build has of it.
#include "compute/device.h"

#include <gtest/gtest.h>

#include "support/program.h"

namespace agora {
namespace {

TEST(DeviceVerbs, SayWhyADeviceCannotBeUsed) {
  if (compute::cuda_available()) GTEST_SKIP() << "there is a GPU";
  const Scratch folder;
  for (const std::string command :
       {"auction eval vcg --setting 2x2", "auction train regretnet --setting 1x2 --run r",
        "agent train ppo --env maze --levels 3 --steps 1000 --run r"}) {
    const testing::Result result =
        testing::shell("agora " + command + " --device cuda", folder.path());
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_EQ(result.err, "agora: device cuda: " + compute::cuda_description() + "\n") << command;
    EXPECT_TRUE(result.out.empty()) << command;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << command;
  }
}

}  // namespace
}  // namespace agora

// Training as a program that uses the library asks for it.
#include <agora/agora.h>
#include <gtest/gtest.h>

#include "support/scratch.h"

namespace agora::auctions {
namespace {

Recipe brief(const Setting& market) {
  Recipe result = recipe("regretnet", market);
  result.width = 8;
  result.iterations = 30;
  result.batch = 16;
  result.samples = 64;
  result.misreport_steps = 2;
  return result;
}

TEST(Train, StoppedAndResumedEndsWithTheSameBits) {
  const Setting market = setting("2x2 uniform(0,1)");
  const auto straight = train("regretnet", market, brief(market), {.seed = 3})->parameters();
  Scratch folder;
  TrainingOptions options{
      .seed = 3, .checkpoint = (folder.path() / "state.safetensors").string(), .report_every = 7};
  std::vector<int64_t> reported;
  options.progress = [&](const TrainingProgress& now) {
    reported.push_back(now.iteration);
    EXPECT_EQ(now.iterations, 30);
    EXPECT_GT(now.numbers.revenue, 0);
    return now.iteration != 14;
  };
  const auto half = train("regretnet", market, brief(market), options)->parameters();
  EXPECT_EQ(reported, (std::vector<int64_t>{7, 14}));
  set_threads(3);
  const auto whole = train("regretnet", market, brief(market), options)->parameters();
  set_threads(0);
  EXPECT_EQ(reported, (std::vector<int64_t>{7, 14, 21, 28, 30}));
  ASSERT_EQ(whole.tensors.size(), straight.tensors.size());
  bool differs = false;
  for (const auto& [name, tensor] : straight.tensors) {
    EXPECT_EQ(whole.tensors.at(name).values, tensor.values) << name;
    differs = differs || half.tensors.at(name).values != tensor.values;
  }
  EXPECT_TRUE(differs);  // it did stop
}

TEST(Train, TakesNoCheckpointOfAnotherTraining) {
  const Setting market = setting("2x2 uniform(0,1)");
  Scratch folder;
  TrainingOptions options{.seed = 3, .checkpoint = (folder.path() / "state.safetensors").string()};
  train("regretnet", market, brief(market), options);
  options.seed = 4;
  expect_user_error([&] { train("regretnet", market, brief(market), options); },
                    {"its seed differs"});
  options.seed = 3;
  Recipe other = brief(market);
  other.penalty *= 2;
  expect_user_error([&] { train("regretnet", market, other, options); }, {"its recipe differs"});
  expect_user_error(
      [&] { train("regretnet", setting("2x2 uniform(0,2)"), brief(market), options); },
      {"its setting differs"});
}

}  // namespace
}  // namespace agora::auctions

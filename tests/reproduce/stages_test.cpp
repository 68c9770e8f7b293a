#include "reproduce/stages.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/signals.h"
#include "support/scratch.h"

namespace agora::reproduce {
namespace {

using namespace auctions;

Recipe small_recipe(const std::string& mechanism, const Setting& market) {
  Recipe recipe = shrunken(auctions::recipe(mechanism, market), 60);
  recipe.batch = 32;
  recipe.samples = mechanism == "algnet" ? 0 : 100;
  return recipe;
}

// Two stages with a training each; a signal comes at look `stop_at` (0: never).
Json run(const std::filesystem::path& path, int stop_at) {
  RunFolder folder = RunFolder::open_or_create(path, {{"verb", "test"}});
  Task task{.scale = Scale::kQuick, .seed = 3, .folder = folder};
  Stages stages(task);
  int looks = 0;
  Json result = Json::object();
  for (const std::string mechanism : {"regretnet", "algnet"}) {
    result[mechanism] = stages.stage(mechanism, [&] {
      const Setting market = setting("1x2");
      const auto look = [&](int64_t iteration, const Mechanism& learned, TrainingNumbers seen) {
        if (++looks == stop_at) request_stop(SIGTERM);
        return Json{{"iteration", iteration},
                    {"train", seen.revenue},
                    {"test", evaluate(learned, market, {.profiles = 100}).revenue}};
      };
      auto trained = stages.train({mechanism, market, small_recipe(mechanism, market), task.seed},
                                  {5, look, {}});
      const Evaluation found = evaluate(*trained.mechanism, market, {.profiles = 100});
      return Json{{"revenue", found.revenue}, {"seen", trained.seen}};
    });
  }
  return result;
}

TEST(Stages, GoOnWithTheSameBitsAfterASignal) {
  const Scratch scratch;
  const Json whole = run(scratch / "whole", 0);
  EXPECT_EQ(whole["regretnet"]["seen"].size(), 5);
  for (const int stop_at : {1, 5, 7}) {
    const auto path = scratch / ("stopped-" + std::to_string(stop_at));
    EXPECT_THROW(run(path, stop_at), Interrupted);
    request_stop(0);
    EXPECT_EQ(dump_json(run(path, 0)), dump_json(whole)) << stop_at;
  }
}

TEST(Stages, ShrinkSchedulesWithTheIterations) {
  const Recipe published = auctions::recipe("regretnet", setting("5x10"), "thesis");
  const Recipe small = shrunken(published, published.iterations / 100);
  EXPECT_EQ(small.iterations, published.iterations / 100);
  EXPECT_EQ(small.penalty_every, published.penalty_every / 100);
  EXPECT_LT(small.width, published.width);
  EXPECT_EQ(shrunken(published, 2 * published.iterations).width, published.width);
}

}  // namespace
}  // namespace agora::reproduce

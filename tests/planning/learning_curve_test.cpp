#include "planning/learning/learning_curve.h"

#include <agora/planning/load.h>
#include <gtest/gtest.h>

#include "support/scratch.h"

namespace agora::planning {
namespace {

constexpr int64_t kEpisodes = 730;  // windows of 7, and one of 2

LearningOptions options() {
  LearningOptions options;
  options.algorithm = "q-learning";
  options.alpha_power = 0.5;
  options.runs = 3;
  options.seed = 11;
  return options;
}

Checkpoint checkpoint_of(const LearningCurve& curve) {
  return {curve.step(),
          TensorFile{.tensors = curve.tensors(), .metadata = {}, .path = "checkpoint"},
          parse_json(dump_json(curve.extra()), "extra")};
}

void expect_same(const LearningCurve& a, const LearningCurve& b) {
  EXPECT_EQ(a.episode(), b.episode());
  EXPECT_EQ(a.mean(), b.mean());
  EXPECT_EQ(a.half_width(), b.half_width());
  EXPECT_TRUE(std::equal(a.run().table().begin(), a.run().table().end(), b.run().table().begin()));
}

// The returns of a run that knows of no windows, cut into windows afterwards.
TEST(LearningCurve, HasTheMeansOfItsWindows) {
  const Model model = load("frozenlake4x4");
  LearningCurve curve(model, options(), kEpisodes);
  curve.advance(kEpisodes);
  LearningRun run(model, options());
  const std::vector<double> returns = run.advance(kEpisodes);
  ASSERT_EQ(curve.mean().size(), 105u);
  for (size_t k = 0; k < curve.mean().size(); ++k) {
    const size_t begin = 7 * k, end = std::min<size_t>(begin + 7, kEpisodes);
    double sum = 0;
    for (size_t i = 3 * begin; i < 3 * end; ++i) sum += returns[i];
    EXPECT_EQ(curve.episode()[k], static_cast<double>(end));
    EXPECT_NEAR(curve.mean()[k], sum / static_cast<double>(3 * (end - begin)), 1e-12);
  }
}

TEST(LearningCurve, IsTheSameHoweverItIsCutAndAfterEveryCheckpoint) {
  const Model model = load("frozenlake4x4");
  LearningCurve whole(model, options(), kEpisodes);
  whole.advance(kEpisodes);
  LearningCurve pieces(model, options(), kEpisodes);
  for (int64_t size = 1; pieces.step() < kEpisodes; ++size) {
    pieces.advance(std::min(size, kEpisodes - pieces.step()));
    LearningCurve other(model, options(), kEpisodes);
    other.restore(checkpoint_of(pieces));
    EXPECT_EQ(other.step(), pieces.step());
    other.advance(kEpisodes - other.step());
    expect_same(other, whole);
  }
  expect_same(pieces, whole);
}

TEST(LearningCurve, ACheckpointThatDoesNotFitIsTheUsersMistake) {
  const Model model = load("frozenlake4x4");
  LearningCurve curve(model, options(), kEpisodes);
  curve.advance(10);
  LearningCurve other(model, options(), kEpisodes);
  Checkpoint changed = checkpoint_of(curve);
  changed.step = 17;  // another window
  expect_user_error([&] { other.restore(changed); }, {"expected a curve up to episode 14"});
  changed = checkpoint_of(curve);
  std::erase_if(changed.tensors.tensors, [](const auto& each) { return each.name == "window"; });
  expect_user_error([&] { other.restore(changed); }, {"window"});
}

}  // namespace
}  // namespace agora::planning

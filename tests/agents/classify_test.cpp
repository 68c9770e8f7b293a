#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "agents/images.h"
#include "agents/players.h"

namespace agora::agents {
namespace {

int number_in(const Environment& environment) {
  return static_cast<int>(environment.observations()[0]);
}

TEST(Classify, CostsOneForEachWrongGuess) {
  const Scratch scratch;
  Arguments images = made_images(scratch, 30);
  images.emplace("train", 20);
  const auto environment = level_of("classify", 4, images);
  EXPECT_EQ(environment->space().observation.shape, (std::vector<int64_t>{4, 3, 1}));
  EXPECT_EQ(environment->space().actions, 5);
  const int label = number_in(*environment) % 5;
  double earned = 0;
  for (int guess = 1; guess <= 20; ++guess) {
    environment->step(std::vector<int32_t>{(label + 1 + guess % 4) % 5});
    earned += static_cast<double>(environment->rewards()[0]);
    EXPECT_EQ(environment->ends()[0], guess == 20 ? End::kCutOff : End::kNone);
  }
  EXPECT_EQ(earned, -20);
  environment->step(std::vector<int32_t>{label});
  EXPECT_EQ(environment->rewards()[0], 0);
  EXPECT_EQ(environment->ends()[0], End::kTerminated);
  // Uniform guesses over five labels: -(4/5 + (4/5)^2 + ... + (4/5)^20).
  EXPECT_NEAR(environment->space().least, -4 * (1 - std::pow(.8, 20)), 1e-12);
  EXPECT_EQ(environment->space().most, 0);
}

TEST(Classify, LearnsFromSomeAndIsTestedOnOthers) {
  const Scratch scratch;
  Arguments images = made_images(scratch, 30);
  images.emplace("train", 20);
  std::set<int> seen, unseen;
  for (int64_t level = 0; level < 20; ++level)
    seen.insert(number_in(*level_of("classify", level, images)));
  for (int64_t level = 20; level < 30; ++level)
    unseen.insert(number_in(*level_of("classify", level, images)));
  EXPECT_EQ(seen.size(), 20u);
  EXPECT_EQ(unseen.size(), 10u);
  for (const int each : unseen) EXPECT_FALSE(seen.contains(each));
  EXPECT_EQ(number_in(*level_of("classify", 31, images)),
            number_in(*level_of("classify", 21, images)));
  Arguments otherwise = images;
  otherwise.emplace("sample", 1);
  std::set<int> drawn;
  for (int64_t level = 0; level < 20; ++level)
    drawn.insert(number_in(*level_of("classify", level, otherwise)));
  EXPECT_NE(drawn, seen);
  // With a set of its own to test on.
  images.insert_or_assign("train", 100);
  images.merge(made_images(scratch, 7, "test-"));
  for (int64_t level = 100; level < 107; ++level) {
    EXPECT_EQ(number_in(*level_of("classify", level, images)), level - 100);
  }
}

TEST(Classify, SaysWhatIsWrongWithItsFiles) {
  const Scratch scratch;
  const Arguments good = made_images(scratch, 30);
  const auto wrong = [&](const std::string& name, const std::string& bytes,
                         const std::vector<std::string>& told) {
    Arguments arguments = good;
    arguments.insert_or_assign("train", 20);
    arguments.insert_or_assign(name, scratch.put("wrong.idx", bytes).string());
    expect_user_error([&] { level_of("classify", 0, arguments); }, told);
  };
  wrong("labels", idx({29}, std::string(29, '\1')), {"30 images", "29 labels"});
  wrong("labels", idx({30, 1}, std::string(30, '\1')), {"wrong.idx", "2 dimensions"});
  wrong("images", idx({30}, std::string(30, '\1')), {"wrong.idx", "1 dimensions"});
  wrong("labels", idx({30}, std::string(30, '\0')), {"one label only"});
  wrong("labels", "GIF89a", {"wrong.idx: this is no IDX file"});
  expect_user_error([&] { level_of("classify", 0, good); }, {"all 30 images", "test-images"});
  expect_user_error(
      [&] {
        level_of("classify", 0, {{"images", good.at("images")}});
      },
      {"images without labels"});
  Arguments other = good;
  other.emplace("test-images", scratch.put("small.idx", idx({2, 2, 2}, "12345678")).string());
  other.emplace("test-labels", scratch.put("two.idx", idx({2}, "\1\2")).string());
  expect_user_error([&] { level_of("classify", 0, other); }, {"small.idx", "2 x 2", "4 x 3"});
}

// 10,000 of 60,000 images, a tenth of each label: 1,000 within five standard deviations of
// about 27.
TEST(Classify, KnowsFashionMnist) {
  if (const std::string why = fashion_mnist_missing(); !why.empty()) {
    EXPECT_NE(why.find("apt-get install dataset-fashion-mnist"), std::string::npos);
    GTEST_SKIP() << why;
  }
  const LabelledImages train =
      read_images(fashion_mnist(false).images, fashion_mnist(false).labels);
  EXPECT_EQ(train.count(), 60'000);
  EXPECT_EQ(train.bytes(), 28 * 28);
  const auto environment = make_environment("classify", {.count = 1});
  EXPECT_EQ(environment->space().observation.shape, (std::vector<int64_t>{28, 28, 1}));
  EXPECT_EQ(environment->space().actions, 10);
  std::vector<int> of_label(10);
  std::set<std::vector<std::byte>> different;
  const auto all =
      make_environment("classify", {.levels = Levels::range(0, 10'000), .count = 2'000, .seed = 1});
  for (int64_t i = 0; i < 2'000; ++i) {
    different.insert(seen_by(all->observations(), *all, i));
  }
  EXPECT_GT(different.size(), 1'700u);  // of 2,000 draws from 10,000: 1,813 on average
  for (int32_t label = 0; label < 10; ++label) {
    const auto guess = make_environment(
        "classify", {.levels = Levels::range(0, 10'000), .count = 10'000, .seed = 1});
    guess->step(std::vector<int32_t>(10'000, label));
    for (const float reward : guess->rewards()) of_label[static_cast<size_t>(label)] += reward == 0;
    EXPECT_NEAR(of_label[static_cast<size_t>(label)], 1'000, 200);
  }
  // The first image to test on is an ankle boot.
  const auto boot = level_of("classify", 10'000);
  boot->step(std::vector<int32_t>{9});
  EXPECT_EQ(boot->ends()[0], End::kTerminated);
}

}  // namespace
}  // namespace agora::agents

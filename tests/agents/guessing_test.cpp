#include "agents/guessing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "agents/algorithm.h"
#include "agents/classifier.h"
#include "agents/evaluation/evaluate.h"
#include "agents/images.h"
#include "agents/players.h"
#include "base/statistics.h"

namespace agora::agents {
namespace {

constexpr Guessing kAll[] = {Guessing::kSame, Guessing::kUniformAfterFirst, Guessing::kElimination,
                             Guessing::kSquareRoot};

// Sure of something else about every image; right about most.
std::vector<float> opinion(int number) {
  std::vector<float> logits(5);
  Rng rng(3, 0, 0, static_cast<uint32_t>(number));
  for (float& each : logits) each = static_cast<float>(rng.normal());
  logits[static_cast<size_t>(number % 5)] += 1;
  return logits;
}

// The first pixel of an image of made_images() is its number.
class Opinionated : public Policy {
 public:
  explicit Opinionated(Space space) : space_(std::move(space)) {}
  const Space& space() const override { return space_; }
  void logits(std::span<const std::byte> observations, int64_t rows,
              std::span<float> out) override {
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      const auto own = opinion(std::to_integer<int>(observations[row * 12]));
      std::copy(own.begin(), own.end(), out.begin() + static_cast<std::ptrdiff_t>(row * 5));
    }
  }

 private:
  Space space_;
};

// What is expected is what is earned, within four standard errors.
TEST(Guessing, EarnsWhatIsExpected) {
  const Scratch scratch;
  Arguments images = made_images(scratch, 30);
  images.emplace("train", 20);
  const Space space = level_of("classify", 0, images)->space();
  const LabelledLevels levels = labelled_levels("classify", images, Levels::range(0, 20));
  std::vector<float> logits;
  for (size_t k = 0; k < 20; ++k) {
    const int number = std::to_integer<int>(levels.observations[k * 12]);
    EXPECT_EQ(levels.labels[k], number % 5);
    const auto own = opinion(number);
    logits.insert(logits.end(), own.begin(), own.end());
  }
  std::set<double> different;
  for (const Guessing how : kAll) {
    const double expected = mean_return(how, logits, levels);
    const auto policy = guessing_policy(how, std::make_unique<Opinionated>(space), 50);
    const Evaluation found = evaluate(*policy, {.environment = "classify",
                                                .environment_arguments = images,
                                                .levels = Levels::range(0, 20),
                                                .episodes = 20'000,
                                                .environments = 50,
                                                .seed = 8});
    const Summary earned = summarise(found.returns);
    EXPECT_NEAR(earned.mean, expected, 4 * earned.standard_error) << static_cast<int>(how);
    different.insert(expected);
    // With a ranking that is right, nothing is lost but by chance.
    std::vector<float> right{0, 0, 50, 0, 0};
    EXPECT_NEAR(expected_return(how, right, 2), 0, 1e-9);
  }
  EXPECT_EQ(different.size(), 4u);
}

// By hand: the right one of ten labels is the third best.
TEST(Guessing, CostsAsManyAsAreWrong) {
  std::vector<float> logits(10, -4.0F);
  logits[7] = 3;
  logits[1] = 2;
  logits[4] = 1;
  EXPECT_EQ(expected_return(Guessing::kSame, logits, 4), -20);
  EXPECT_EQ(expected_return(Guessing::kElimination, logits, 4), -2);
  // 1 + .9 + .9^2 + ... + .9^19
  EXPECT_NEAR(expected_return(Guessing::kUniformAfterFirst, logits, 4),
              -(1 - std::pow(.9, 20)) / .1, 1e-12);
  // The last label that a process of elimination tries.
  EXPECT_EQ(expected_return(Guessing::kElimination, logits, 9), -9);
  const double sum = std::exp(1.5) + std::exp(1) + std::exp(.5) + 7 * std::exp(-2);
  const double wrong = 1 - std::exp(.5) / sum;
  EXPECT_NEAR(expected_return(Guessing::kSquareRoot, logits, 4),
              -wrong * (1 - std::pow(wrong, 20)) / (1 - wrong), 1e-12);
}

// Of memoryless policies proportional to p^x, x = 1/2 loses least when labels are drawn from p;
// with a limit of 20 guesses nearly so.
TEST(Guessing, SquareRootsLoseLeastWithoutMemory) {
  const std::vector<double> p{.55, .25, .12, .08};
  const auto lost = [&](double power) {
    std::vector<float> logits;
    for (const double each : p) logits.push_back(static_cast<float>(2 * power * std::log(each)));
    double sum = 0;
    for (int32_t label = 0; label < 4; ++label) {
      sum -= p[static_cast<size_t>(label)] * expected_return(Guessing::kSquareRoot, logits, label);
    }
    return sum;
  };
  EXPECT_LT(lost(0.5), lost(0.4));
  EXPECT_LT(lost(0.5), lost(0.65));
  EXPECT_LT(lost(0.5), lost(1) - 0.1);
}

TEST(Guessing, NeedsOneLabel) {
  expect_user_error([] { labelled_levels("maze", {}, Levels::range(0, 2)); },
                    {"maze", "0 actions end level 0", "expected one"});
}

std::vector<char> bytes_of(const Resumable& learner) {
  std::vector<char> all;
  for (const StoredTensor& each : learner.tensors())
    all.insert(all.end(), each.bytes.begin(), each.bytes.end());
  return all;
}

TEST(Classifier, LearnsLabelsAndGoesOnWithTheSameBits) {
  const Scratch scratch;
  Arguments images = made_images(scratch, 30);
  images.emplace("train", 20);
  const LabelledLevels levels = labelled_levels("classify", images, Levels::range(0, 20));
  const ClassifierOptions options{.network = {.kind = "mlp", .width = 32},
                                  .updates = 800,
                                  .batch = 16,
                                  .rate = 1e-2,
                                  .seed = 2};
  Classifier whole(levels, options), before(levels, options), after(levels, options);
  EXPECT_LT(mean_return(Guessing::kSame, logits_of(whole.policy(), levels), levels), -8);
  whole.advance(800);
  before.advance(100);
  Checkpoint saved;
  saved.tensors.tensors = before.tensors();
  after.restore(saved);
  after.advance(700);
  EXPECT_EQ(bytes_of(after), bytes_of(whole));
  EXPECT_EQ(mean_return(Guessing::kSame, logits_of(whole.policy(), levels), levels), 0);
  // Probabilities are as the loss says: the mean of -log p of the right labels.
  const auto logits = logits_of(whole.policy(), levels);
  double loss = 0;
  for (size_t k = 0; k < 20; ++k) {
    double sum = 0;
    for (size_t a = 0; a < 5; ++a) sum += std::exp(static_cast<double>(logits[k * 5 + a]));
    loss -= (logits[k * 5 + static_cast<size_t>(levels.labels[k])] - std::log(sum)) / 20;
  }
  EXPECT_LT(loss, 0.1);
  EXPECT_GT(loss, 0);
  // What it is a policy for: the images are found again, and what is unseen is known.
  save_policy(scratch / "p.safetensors", whole.policy());
  const SavedPolicy kept = load_policy(scratch / "p.safetensors");
  EXPECT_EQ(kept.environment, "classify");
  EXPECT_EQ(kept.levels, 20);
  const auto again = make_environment(
      kept.environment,
      {.levels = Levels::range(0, 1), .count = 1, .arguments = kept.environment_arguments});
  EXPECT_TRUE(std::equal(again->observations().begin(), again->observations().end(),
                         levels.observations.begin()));
}

// The memory of every image with every label is made anew, not saved: the learner that goes on with
// it learns the same, and the training images perfectly.
TEST(Dqn, LearnsImagesFromAFullMemory) {
  const Scratch scratch;
  Arguments images = made_images(scratch, 30);
  images.emplace("train", 20);
  const AgentOptions options{
      .environment = "classify",
      .environment_arguments = images,
      .levels = Levels::range(0, 20),
      .steps = 4 * 60,
      .environments = 4,
      .seed = 2,
      .network = {.kind = "mlp", .width = 32},
      .arguments = {
          {"prefill", true}, {"every", 1.0}, {"updates", 20.0}, {"batch", 32.0}, {"rate", 0.005}}};
  const Algorithm& dqn = algorithm_named("dqn");
  const auto whole = dqn.make(options), before = dqn.make(options), after = dqn.make(options);
  before->advance(20);
  Checkpoint saved;
  saved.tensors.tensors = before->tensors();
  after->restore(saved);
  after->advance(40);
  whole->advance(60);
  EXPECT_EQ(bytes_of(*after), bytes_of(*whole));
  const LabelledLevels levels = labelled_levels("classify", images, Levels::range(0, 20));
  const auto logits = logits_of(whole->policy(), levels);
  EXPECT_EQ(mean_return(Guessing::kSame, logits, levels), 0);
}

}  // namespace
}  // namespace agora::agents

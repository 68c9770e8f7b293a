// Acting and learning on a device: what is seen goes there once, and one half of the environments
// steps while the other is thought about. None of it changes what comes out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <optional>
#include <string>

#include "agents/environment.h"
#include "agents/made_rollout.h"
#include "agents/ppo.h"
#include "agents/ppo_ensemble.h"
#include "base/signals.h"
#include "support/emulated_gpu.h"

namespace agora::agents {
namespace {

// Acts upon what it sees alone, as networks do.
class Looker : public Actor {
 public:
  Looker(int actions, bool overlaps) : actions_(actions), overlaps_(overlaps) {}
  bool overlaps() const override { return overlaps_; }
  void act(std::span<const std::byte> seen, int64_t rows, std::span<float> logits,
           std::span<float> values) override {
    const size_t bytes = seen.size() / static_cast<size_t>(rows);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      double sum = 0;
      for (size_t k = 0; k < bytes; ++k) {
        sum += std::to_integer<int>(seen[row * bytes + k]) * std::sin(static_cast<double>(k));
      }
      for (int a = 0; a < actions_; ++a) {
        logits[row * static_cast<size_t>(actions_) + static_cast<size_t>(a)] =
            static_cast<float>(std::cos(sum + a));
      }
      values[row] = static_cast<float>(std::sin(sum));
    }
  }
  void value(std::span<const std::byte> seen, int64_t rows, std::span<float> values) override {
    std::vector<float> logits(static_cast<size_t>(rows * actions_));
    act(seen, rows, logits, values);
  }
  void ended(std::span<const End> ends) override {
    ends_.insert(ends_.end(), ends.begin(), ends.end());
  }

  int actions_;
  bool overlaps_;
  std::vector<End> ends_;
};

class Overlapping : public ::testing::TestWithParam<const char*> {};

TEST_P(Overlapping, ChangesNothing) {
  std::vector<Rollout> played;
  std::vector<std::vector<End>> told;
  std::vector<double> scales;
  for (const bool overlaps : {false, true}) {
    auto environment =
        make_environment(GetParam(), {.levels = Levels::range(0, 20), .count = 33, .seed = 4});
    ASSERT_TRUE(environment->has_parts());
    Looker looker(environment->space().actions, overlaps);
    Player player(std::move(environment), 80, 0.99, 5);
    player.play(looker);
    played.push_back(player.play(looker));
    told.push_back(looker.ends_);
    const auto kept = player.save("");
    for (const StoredTensor& each : kept) {
      if (each.name == "scale") scales.push_back(each.values<double>().back());
    }
  }
  EXPECT_EQ(played[0].observations, played[1].observations);
  EXPECT_EQ(played[0].actions, played[1].actions);
  EXPECT_EQ(played[0].masks, played[1].masks);
  EXPECT_EQ(played[0].log_probs, played[1].log_probs);
  EXPECT_EQ(played[0].values, played[1].values);
  EXPECT_EQ(played[0].rewards, played[1].rewards);
  EXPECT_EQ(played[0].ends, played[1].ends);
  EXPECT_EQ(played[0].levels, played[1].levels);
  EXPECT_EQ(played[0].after, played[1].after);
  EXPECT_EQ(played[0].last_values, played[1].last_values);
  EXPECT_EQ(told[0], told[1]);
  ASSERT_EQ(scales.size(), 2u);
  EXPECT_EQ(scales[0], scales[1]);
  const auto ended = [&](End how) {
    return std::count(played[0].ends.begin(), played[0].ends.end(), how);
  };
  EXPECT_GT(ended(End::kTerminated) + ended(End::kCutOff), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Overlapping, ::testing::Values("maze", "maze/pixels"));

// Frames that were brought to the device while acting are those that are learned from.
struct Learned {
  std::string name;
  std::optional<SeparateValue> separate;
  std::optional<Invariance> invariance;
};
void PrintTo(const Learned& one, std::ostream* out) { *out << one.name; }

class Frames : public ::testing::TestWithParam<Learned> {};

TEST_P(Frames, AreBroughtToADeviceOnce) {
  std::optional<compute::InsteadOfCuda> emulated;
  if (!compute::cuda_available()) emulated.emplace(compute::EmulatedGpu::backend());
  const Space space{{ObservationSpace::Type::kByte, {2, 3, 1}}, 3, 0, 1};
  const int64_t steps = 4, count = 5;
  Rng rng(8);
  Rollout rollout;
  rollout.steps = steps;
  rollout.count = count;
  const auto n = static_cast<size_t>(steps * count);
  for (size_t k = 0; k < n * 6; ++k) {
    rollout.observations.push_back(static_cast<std::byte>(rng.below(256)));
  }
  for (size_t k = 0; k < n; ++k) rollout.actions.push_back(static_cast<int32_t>(rng.below(3)));
  for (auto* each : {&rollout.log_probs, &rollout.values, &rollout.returns, &rollout.advantages}) {
    for (size_t k = 0; k < n; ++k) each->push_back(static_cast<float>(rng.uniform(-2, -0.5)));
  }
  PpoOptions options{.epochs = 1, .minibatches = 2};
  options.separate = GetParam().separate;
  options.invariance = GetParam().invariance;
  const NetworkOptions network{.kind = "mlp", .width = 8, .layers = 1};
  const auto made = [&] {
    auto member =
        std::make_unique<PpoMember>(space, network, options, Pull{}, false, count, steps * count);
    member->initialise(3, 0);
    return member;
  };
  const auto here = made();  // on the CPU
  compute::set_default_device(compute::Device::kCuda);
  const auto there = made(), again = made();
  compute::set_default_device(compute::Device::kCpu);
  EXPECT_TRUE(there->overlaps());
  EXPECT_FALSE(here->overlaps());
  there->begins(rollout);
  std::vector<float> logits(15), values(5), plain_logits(15), plain_values(5);
  for (int64_t t = 0; t < steps; ++t) {
    const auto seen = seen_in(rollout, space, t * count, count);
    there->start(seen, count);
    there->finish(logits, values);
    here->act(seen, count, plain_logits, plain_values);
    for (size_t k = 0; k < logits.size(); ++k) EXPECT_NEAR(logits[k], plain_logits[k], 1e-5);
    for (size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], plain_values[k], 1e-5);
  }
  std::vector<float> own(n * 3), others(n * 3);
  there->probabilities(rollout, *there, own);
  here->probabilities(rollout, *here, others);
  for (size_t k = 0; k < own.size(); ++k) EXPECT_NEAR(own[k], others[k], 1e-5);
  const PpoNumbers wanted = here->update(rollout, {}, 9, 0, 0);
  for (PpoMember* const member : {&*there, &*again}) {  // the second's are brought when learning
    const PpoNumbers found = member->update(rollout, {}, 9, 0, 0);
    EXPECT_NEAR(found.loss, wanted.loss, 1e-4);
    EXPECT_NEAR(found.value, wanted.value, 1e-4);
    EXPECT_NEAR(found.difference, wanted.difference, 1e-4);
  }
  EXPECT_EQ(wanted.difference > 0, GetParam().invariance.has_value());
}
INSTANTIATE_TEST_SUITE_P(
    All, Frames,
    ::testing::Values(Learned{"WithASharedValue", {}, {}},
                      Learned{"WithAValueOfItsOwn", SeparateValue{.epochs = 2}, {}},
                      Learned{"WhereverThePictureIs", {}, Invariance{.shift = 0.4}}),
    [](const auto& tested) { return tested.param.name; });

// IMPALA's network sees both pictures in one plan of image kernels, whose numbers are bf16: images
// are known to a hundredth there, how what is made of two of them differs to a tenth or two.
class FramesOfGames : public ::testing::TestWithParam<int64_t> {};

TEST_P(FramesOfGames, MoveOnADeviceToo) {
  std::optional<compute::InsteadOfCuda> emulated;
  if (!compute::cuda_available()) emulated.emplace(compute::EmulatedGpu::backend());
  const Space space{{ObservationSpace::Type::kByte, {16, 16, GetParam()}}, 3, 0, 1};
  const PpoOptions options{.epochs = 1, .minibatches = 1, .invariance = Invariance{.weight = 100}};
  const auto made = [&] {
    auto member = std::make_unique<PpoMember>(space, NetworkOptions{.kind = "impala"}, options,
                                              Pull{}, false, 32, 32);
    member->initialise(3, 0);
    return member;
  };
  const auto here = made();
  compute::set_default_device(compute::Device::kCuda);
  const auto there = made();
  compute::set_default_device(compute::Device::kCpu);
  Rng rng(8);
  const Rollout rollout = made_rollout(*here, space, false, 32, rng);
  const PpoGradient wanted = here->gradient(rollout, {}), found = there->gradient(rollout, {});
  EXPECT_NEAR(found.numbers.loss, wanted.numbers.loss, 0.05 * std::abs(wanted.numbers.loss));
  EXPECT_GT(wanted.numbers.difference, 0);
  EXPECT_NEAR(found.numbers.difference, wanted.numbers.difference,
              0.05 * wanted.numbers.difference);
  double apart = 0, norm = 0;
  for (size_t k = 0; k < wanted.tensors.size(); ++k) {
    const auto ours = found.tensors[k].values<double>(),
               theirs = wanted.tensors[k].values<double>();
    for (size_t e = 0; e < ours.size(); ++e) {
      apart += std::pow(ours[e] - theirs[e], 2);
      norm += std::pow(theirs[e], 2);
    }
  }
  EXPECT_LT(std::sqrt(apart), 0.3 * std::sqrt(norm));
}
// With the trace of an episode there are four channels.
INSTANTIATE_TEST_SUITE_P(All, FramesOfGames, ::testing::Values(3, 4));

// Members of which each plays its next rollout while the others learn.
enum class Drawn : uint8_t { kToTheOthers, kToADistilledPolicy, kWithAnExplorer };

class PlayingAhead : public ::testing::TestWithParam<Drawn> {
 protected:
  PlayingAhead() {
    if (!compute::cuda_available()) emulated_.emplace(compute::EmulatedGpu::backend());
    compute::set_default_device(compute::Device::kCuda);
  }
  ~PlayingAhead() override { compute::set_default_device(compute::Device::kCpu); }

  std::unique_ptr<PpoEnsemble> made(bool ahead) const {
    const bool distils = GetParam() == Drawn::kToADistilledPolicy;
    const bool explores = GetParam() == Drawn::kWithAnExplorer;
    return std::make_unique<PpoEnsemble>(
        AgentOptions{.environment = "maze",
                     .levels = Levels::range(0, 9),
                     .steps = 5 * 6 * 10,
                     .environments = 6,
                     .seed = 3,
                     .network = {.kind = "mlp", .width = 8, .layers = 1}},
        EnsembleOptions{
            .members = explores ? 2 : 3,
            .pull = {.penalty = 1, .link = distils ? std::nullopt : std::optional(Link::kMax)},
            .replay = LevelReplay{},
            .distilled = distils,
            .explorer = explores ? std::optional(ExplorerOptions{}) : std::nullopt,
            .rollout = 10,
            .plays_ahead = ahead,
            .ppo = {.epochs = 2, .minibatches = 2, .invariance = Invariance{}}});
  }
  static std::map<std::string, std::vector<char>> state_of(const PpoEnsemble& learner) {
    std::map<std::string, std::vector<char>> all;
    for (const StoredTensor& each : learner.tensors()) all[each.name] = each.bytes;
    return all;
  }

 private:
  std::optional<compute::InsteadOfCuda> emulated_;
};

TEST_P(PlayingAhead, ChangesNothing) {
  const auto in_turn = made(false), ahead = made(true);
  for (int64_t done = 0; done < in_turn->total(); ++done) {
    in_turn->advance(1);
    ahead->advance(1);
    ASSERT_EQ(state_of(*ahead), state_of(*in_turn)) << "after iteration " << done;
    if (done % 2 == 0) continue;
    EXPECT_EQ(ahead->numbers(), in_turn->numbers());
  }
  const Profile profile = *ahead->profile();
  EXPECT_GT(profile.waiting, 0);
  EXPECT_GT(profile.overlapped, 0);
  EXPECT_EQ(in_turn->profile()->overlapped, 0);
}

TEST_P(PlayingAhead, IsUndoneBySignals) {
  const auto in_turn = made(false), ahead = made(true);
  in_turn->advance(2);
  ahead->advance(2);
  request_stop(SIGINT);
  EXPECT_THROW(ahead->advance(1), Interrupted);
  request_stop(0);
  EXPECT_EQ(state_of(*ahead), state_of(*in_turn));
  in_turn->advance(2);
  ahead->advance(2);
  EXPECT_EQ(state_of(*ahead), state_of(*in_turn));
}

TEST_P(PlayingAhead, GoesOnFromWhatWasSaved) {
  const auto in_turn = made(false), first = made(true), second = made(true);
  in_turn->advance(4);
  first->advance(2);
  Checkpoint kept{.step = 2, .tensors = {}, .extra = {}};
  kept.tensors.tensors = first->tensors();
  second->advance(1);
  second->restore(kept);
  second->advance(2);
  EXPECT_EQ(state_of(*second), state_of(*in_turn));
}

std::string name_of(const ::testing::TestParamInfo<Drawn>& tested) {
  if (tested.param == Drawn::kToTheOthers) return "ToTheOthers";
  return tested.param == Drawn::kToADistilledPolicy ? "ToADistilledPolicy" : "WithAnExplorer";
}
INSTANTIATE_TEST_SUITE_P(All, PlayingAhead,
                         ::testing::Values(Drawn::kToTheOthers, Drawn::kToADistilledPolicy,
                                           Drawn::kWithAnExplorer),
                         name_of);

}  // namespace
}  // namespace agora::agents

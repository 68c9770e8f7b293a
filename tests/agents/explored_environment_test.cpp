// What is new to an episode, the trace it leaves, and who acts where members disagree.
#include "agents/explored_environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "agents/exploring_policy.h"
#include "agents/novelty.h"
#include "agents/players.h"
#include "agents/ppo_ensemble.h"
#include "agents/traces.h"

namespace agora::agents {
namespace {

std::vector<std::byte> picture(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

ObservationSpace picture_space(int64_t height, int64_t width, int64_t channels) {
  return {.type = ObservationSpace::Type::kByte, .shape = {height, width, channels}};
}

TEST(Traces, KeepTheLargestChange) {
  Trace trace(picture_space(1, 2, 2));
  std::vector<std::byte> seen(6);
  trace.see(picture({10, 20, 30, 40}), seen);
  EXPECT_EQ(seen, picture({10, 20, 0, 30, 40, 0}));
  trace.see(picture({15, 12, 30, 41}), seen);
  EXPECT_EQ(seen, picture({15, 12, 8, 30, 41, 1}));
  trace.see(picture({10, 20, 30, 255}), seen);  // what was back is not forgotten
  EXPECT_EQ(seen, picture({10, 20, 8, 30, 255, 215}));
  trace.clear();
  trace.see(picture({0, 0, 9, 9}), seen);
  EXPECT_EQ(seen, picture({0, 0, 0, 9, 9, 0}));
}

TEST(Traces, WantPictures) {
  EXPECT_EQ(with_trace(picture_space(4, 5, 3)), picture_space(4, 5, 4));
  ObservationSpace real = picture_space(4, 5, 3);
  real.type = ObservationSpace::Type::kReal;
  expect_user_error([&] { with_trace(real); }, {"no", "pictures"});
  expect_user_error([] { with_trace({ObservationSpace::Type::kByte, {60}}); }, {"are none"});
}

// Places on a line of 3-4-5 triangles: 0, 5, 10, 15 and 20 from the first.
std::vector<std::byte> place(int steps) { return picture({3 * steps, 4 * steps}); }

TEST(NoveltyOf, AnEpisodeByHand) {
  Novelty novelty(picture_space(1, 2, 1), 2);
  const auto seen = [&](int steps) { return novelty.see(place(steps)) * 255; };
  EXPECT_EQ(seen(0), 0);
  EXPECT_DOUBLE_EQ(seen(2), 10);  // of fewer the farthest
  EXPECT_DOUBLE_EQ(seen(3), 15);  // 5 and 15 away
  EXPECT_DOUBLE_EQ(seen(2), 5);   // 0, 5 and 10
  EXPECT_EQ(seen(2), 0);          // twice there already
  novelty.clear();
  EXPECT_EQ(seen(2), 0);
  EXPECT_DOUBLE_EQ(seen(1), 5);
}

TEST(NoveltyOf, TheLastPicturesAlone) {
  Novelty novelty(picture_space(1, 2, 1), 1, 2);
  for (const int steps : {0, 1, 3}) novelty.see(place(steps));
  EXPECT_DOUBLE_EQ(novelty.see(place(0)) * 255, 5);  // the first one is gone
  EXPECT_EQ(novelty.kept(), 2);
}

// Against distances that are found afresh, through what was saved in between.
TEST(NoveltyOf, PooledPictures) {
  const ObservationSpace space = picture_space(49, 50, 2);
  const int64_t neighbours = 3, most = 5;
  Novelty novelty(space, neighbours, most);
  EXPECT_EQ(novelty.size(), 16 * 16 * 2);
  Rng rng(4);
  std::vector<std::byte> now(static_cast<size_t>(space.bytes()));
  std::vector<std::vector<double>> before;
  for (int step = 0; step < 14; ++step) {
    for (int k = 0; k < (step % 3 == 0 ? 5000 : 20); ++k) {
      now[rng.below(static_cast<uint32_t>(now.size()))] = static_cast<std::byte>(rng.below(256));
    }
    std::vector<double> pooled(512);
    for (size_t y = 0; y < 48; ++y) {
      for (size_t x = 0; x < 48; ++x) {
        for (size_t c = 0; c < 2; ++c) {
          pooled[(y / 3 * 16 + x / 3) * 2 + c] +=
              std::to_integer<int>(now[(y * 50 + x) * 2 + c]) / 9.0;
        }
      }
    }
    for (double& each : pooled) each = std::floor(each + 0.5 + 1e-9);
    std::vector<double> distances;
    for (const auto& other : before) {
      double sum = 0;
      for (size_t k = 0; k < pooled.size(); ++k) {
        sum += (pooled[k] - other[k]) * (pooled[k] - other[k]);
      }
      distances.push_back(std::sqrt(sum) / 255);
    }
    std::sort(distances.begin(), distances.end());
    const double wanted =
        distances.empty() ? 0 : distances[std::min<size_t>(3, distances.size()) - 1];
    EXPECT_NEAR(novelty.see(now), wanted, 1e-9) << step;
    before.push_back(pooled);
    if (std::ssize(before) > most) before.erase(before.begin());
    std::vector<uint8_t> kept(static_cast<size_t>(novelty.size() * novelty.kept()));
    novelty.save(kept);
    Novelty again(space, neighbours, most);
    again.see(std::vector<std::byte>(now.size()));
    again.restore(novelty.seen(), kept);
    novelty = again;
  }
}

std::unique_ptr<Environment> mazes(const char* form = "maze") {
  return make_environment(form, {.levels = Levels::range(0, 9), .count = 20, .seed = 5});
}

// The same game, its trace, and a reward that is never the game's.
TEST(Explorers, SeeTheirTraceAndNotTheReward) {
  const auto plain = mazes(), explored = for_explorer(mazes(), 2);
  EXPECT_EQ(explored->space().observation, with_trace(plain->space().observation));
  EXPECT_EQ(explored->space().actions, plain->space().actions);
  std::vector<Trace> traces(20, Trace(plain->space().observation));
  std::vector<Novelty> novelties(20, Novelty(plain->space().observation, 2));
  std::vector<std::byte> wanted(static_cast<size_t>(explored->space().observation.bytes()));
  for (size_t row = 0; row < 20; ++row) {
    novelties[row].see(seen_by(plain->observations(), *plain, static_cast<int64_t>(row)));
    traces[row].see(seen_by(plain->observations(), *plain, static_cast<int64_t>(row)), wanted);
  }
  int64_t ends = 0;
  for (int64_t step = 0; step < 1200; ++step) {
    const auto actions = random_actions(*plain, 9, step);
    plain->step(actions);
    explored->step(actions);
    for (size_t row = 0; row < 20; ++row) {
      const auto at = static_cast<int64_t>(row);
      const bool ended = plain->ends()[row] != End::kNone;
      const auto seen =
          seen_by(ended ? plain->last_observations() : plain->observations(), *plain, at);
      traces[row].see(seen, wanted);
      EXPECT_EQ(explored->rewards()[row], static_cast<float>(novelties[row].see(seen)));
      EXPECT_EQ(explored->ends()[row], ended ? End::kCutOff : End::kNone);
      EXPECT_EQ(explored->levels()[row], plain->levels()[row]);
      EXPECT_EQ(explored->ended_levels()[row], plain->ended_levels()[row]);
      if (ended) {
        ++ends;
        EXPECT_EQ(seen_by(explored->last_observations(), *explored, at), wanted);
        const auto first = seen_by(plain->observations(), *plain, at);
        traces[row].clear();
        novelties[row].clear();
        traces[row].see(first, wanted);
        novelties[row].see(first);
      }
      ASSERT_EQ(seen_by(explored->observations(), *explored, at), wanted) << step;
    }
  }
  EXPECT_GT(ends, 20);
}

// One pixel that counts; the first action goes on, others end or cut off the episode. Ends are not
// shown.
class Counter : public Environment {
 public:
  int64_t count() const override { return 1; }
  const Space& space() const override { return space_; }
  void step(std::span<const int32_t> actions) override {
    ends_[0] = static_cast<End>(actions[0]);
    seen_[0] = static_cast<std::byte>(std::to_integer<int>(seen_[0]) + 51);
    if (ends_[0] == End::kCutOff) last_ = seen_;
    if (ends_[0] != End::kNone) seen_[0] = std::byte{0};
  }
  std::span<const std::byte> observations() const override { return seen_; }
  std::span<const float> rewards() const override { return rewards_; }
  std::span<const End> ends() const override { return ends_; }
  std::span<const int64_t> ended_levels() const override { return levels_; }
  std::span<const std::byte> last_observations() const override { return last_; }
  bool shows_ends() const override { return false; }
  std::span<const int64_t> levels() const override { return levels_; }
  void prefer(std::span<const double>) override {}
  std::span<const uint8_t> masks() const override { return masks_; }
  std::vector<StoredTensor> save(const std::string&) const override { return {}; }
  void restore(const TensorFile&, const std::string&) override {}
  Picture picture(int64_t) const override { return {}; }

 private:
  Space space_{.observation = picture_space(1, 1, 1), .actions = 3};
  std::vector<std::byte> seen_{std::byte{0}}, last_{std::byte{7}};
  std::vector<float> rewards_{5};
  std::vector<End> ends_{End::kNone};
  std::vector<int64_t> levels_{0};
  std::vector<uint8_t> masks_{1, 0, 1};
};

TEST(Explorers, LearnNothingFromEndsThatAreNotShown) {
  const auto explored = for_explorer(std::make_unique<Counter>(), 1);
  const auto step = [&](End end) {
    explored->step(std::vector<int32_t>{static_cast<int32_t>(end)});
    return explored->rewards()[0];
  };
  const auto seen = [](std::span<const std::byte> bytes) {
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(explored->masks()[1], 0);
  EXPECT_FLOAT_EQ(step(End::kNone), 0.2F);
  EXPECT_EQ(seen(explored->observations()), picture({51, 51}));
  EXPECT_EQ(step(End::kTerminated), 0);
  EXPECT_EQ(explored->ends()[0], End::kTerminated);
  EXPECT_EQ(seen(explored->last_observations()), picture({0, 0}));  // as it was
  EXPECT_EQ(seen(explored->observations()), picture({0, 0}));
  EXPECT_FLOAT_EQ(step(End::kCutOff), 0.2F);
  EXPECT_EQ(explored->ends()[0], End::kCutOff);
  EXPECT_EQ(seen(explored->last_observations()), picture({51, 51}));
}

struct Told {
  std::vector<std::byte> observations, last;
  std::vector<float> rewards;
  std::vector<End> ends;
  bool operator==(const Told&) const = default;
};

Told told_by(const Environment& environment) {
  const auto all = [](auto span) { return std::vector(span.begin(), span.end()); };
  return {all(environment.observations()), all(environment.last_observations()),
          all(environment.rewards()), all(environment.ends())};
}

class ExploredGames : public ::testing::TestWithParam<const char*> {};

TEST_P(ExploredGames, GoOnWithTheSameBitsAfterASave) {
  const auto one = for_explorer(mazes(GetParam()), 3);
  for (int64_t step = 0; step < 610; ++step) one->step(random_actions(*one, 2, step));
  const TensorFile saved{.tensors = one->save("e."), .metadata = {}, .path = "f"};
  const auto other = for_explorer(mazes(GetParam()), 3);
  const auto* const at = other->observations().data();
  for (int64_t step = 0; step < 3; ++step) other->step(random_actions(*other, 1, step));
  other->restore(saved, "e.");
  EXPECT_EQ(other->observations().data(), at);
  EXPECT_EQ(told_by(*one), told_by(*other));
  for (int64_t step = 0; step < 60; ++step) {
    one->step(random_actions(*one, 3, step));
    const auto actions = random_actions(*other, 3, step);
    for (const int64_t first : {0, 7}) {  // in parts
      const auto count = static_cast<size_t>(first == 0 ? 7 : 13);
      other->step_part(std::span(actions).subspan(static_cast<size_t>(first), count), first);
    }
    ASSERT_EQ(told_by(*one), told_by(*other)) << step;
  }
}
INSTANTIATE_TEST_SUITE_P(All, ExploredGames, ::testing::Values("maze", "maze/pixels", "heist"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

TEST(Explorers, RefuseWhatCannotBeTheirState) {
  const auto one = for_explorer(mazes(), 3);
  const TensorFile saved{.tensors = one->save("e."), .metadata = {}, .path = "f"};
  const auto broken = [&](const std::string& name,
                          const std::function<void(StoredTensor&)>& spoil) {
    TensorFile changed = saved;
    for (StoredTensor& each : changed.tensors) {
      if (each.name == name) spoil(each);
    }
    const Told before = told_by(*one);
    expect_user_error([&] { one->restore(changed, "e."); }, {"f: "});
    EXPECT_EQ(told_by(*one), before);
  };
  broken("e.seen", [](StoredTensor& each) { std::fill(each.bytes.begin(), each.bytes.end(), 0); });
  broken("e.seen", [](StoredTensor& each) { each.bytes[0] = 9; });  // more than is kept
  broken("e.ends", [](StoredTensor& each) { each.bytes[3] = 3; });
  broken("e.firsts", [](StoredTensor& each) { each.name = "e.other"; });
  broken("e.played.clock", [](StoredTensor& each) { each.name = "e.other"; });
  expect_user_error(
      [] {
        for_explorer(make_environment("tabular", {.count = 1, .arguments = {{"model", "taxi"}}}),
                     3);
      },
      {"pictures"});
}

TEST(ExploringSteps, AreGeometric) {
  Rng rng(3);
  const int draws = 40'000;
  for (const double mean : {1.0, 2.5, 20.0}) {
    double sum = 0, ones = 0;
    for (int k = 0; k < draws; ++k) {
      const int64_t steps = exploring_steps(mean, rng);
      ASSERT_GE(steps, 1);
      sum += static_cast<double>(steps);
      ones += steps == 1 ? 1 : 0;
    }
    const double deviation = std::sqrt(mean * (mean - 1) / draws);
    EXPECT_NEAR(sum / draws, mean, 5 * deviation);
    EXPECT_NEAR(ones / draws, 1 / mean, 5 * std::sqrt(0.25 / draws));
  }
}

}  // namespace
}  // namespace agora::agents

// What every environment of the registry must do, in each of its forms.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "agents/players.h"
#include "base/thread_pool.h"
#include "support/allocations.h"

namespace agora::agents {
namespace {

struct Case {
  std::string name;
  std::string model = {};  // of tabular
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name << " " << one.model; }

const std::set<std::string> kGames{"maze", "heist", "bigfish", "dodgeball", "coinrun"};

std::vector<Case> cases() {
  std::vector<Case> all{{"tabular", "random(states=9,branching=3)"},
                        {"tabular/features", "taxi"},
                        {"tabular", "slippery-cliff(slip=0.3)"}};
  for (const EnvironmentKind& kind : environments()) {
    if (kind.forms.empty()) all.push_back({kind.name});
    for (const std::string& form : kind.forms) {
      // procgen_test.cpp has all sixteen.
      if (kind.name == "procgen" && !kGames.contains(form)) continue;
      all.push_back({kind.name + "/" + form});
    }
  }
  return all;
}

class Conformance : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (kind() == "classify") images_ = made_images(scratch_, 60);
    images_.insert_or_assign("train", 40);
    for (const EnvironmentKind& each : environments()) {
      if (each.name != kind()) continue;
      if (const std::string why = each.missing(arguments()); !why.empty()) GTEST_SKIP() << why;
    }
  }

  std::string kind() const { return GetParam().name.substr(0, GetParam().name.find('/')); }
  Arguments arguments() const {
    if (kind() == "classify") return images_;
    if (!GetParam().model.empty()) return {{"model", GetParam().model}};
    return {};
  }
  std::unique_ptr<Environment> make(int64_t count, uint64_t seed = 5,
                                    Levels levels = Levels::range(3, 20)) const {
    return make_environment(
        GetParam().name,
        {.levels = std::move(levels), .count = count, .seed = seed, .arguments = arguments()});
  }

  const Scratch scratch_;
  Arguments images_;
};

// Everything that is told of a step.
struct Recorded {
  std::vector<std::byte> observations, last;
  std::vector<float> rewards;
  std::vector<End> ends;
  std::vector<int64_t> levels, ended;
  std::vector<uint8_t> masks;
  bool operator==(const Recorded&) const = default;
};

Recorded told_by(const Environment& environment) {
  const auto all = [](auto span) { return std::vector(span.begin(), span.end()); };
  return {all(environment.observations()), all(environment.last_observations()),
          all(environment.rewards()),      all(environment.ends()),
          all(environment.levels()),       all(environment.ended_levels()),
          all(environment.masks())};
}

std::vector<Recorded> play(Environment& environment, int64_t steps, int64_t first = 0) {
  std::vector<Recorded> transcript{told_by(environment)};
  for (int64_t step = first; step < first + steps; ++step) {
    environment.step(random_actions(environment, 9, step));
    transcript.push_back(told_by(environment));
  }
  return transcript;
}

TEST_P(Conformance, IsAFunctionOfSeedAndActions) {
  const auto one = make(6), same = make(6), other = make(6, 6);
  const std::vector<Recorded> transcript = play(*one, 120);
  EXPECT_EQ(transcript, play(*same, 120));
  EXPECT_NE(transcript, play(*other, 120));
}

TEST_P(Conformance, StaysWithinItsSpace) {
  const auto environment = make(7);
  const Space& space = environment->space();
  const size_t count = 7;
  EXPECT_GE(space.actions, 2);
  EXPECT_LE(space.least, space.most);
  EXPECT_EQ(environment->observations().size(),
            count * static_cast<size_t>(space.observation.bytes()));
  const auto* const place = environment->observations().data();
  std::set<std::vector<std::byte>> seen;
  for (int64_t step = 0; step < 300; ++step) {
    environment->step(random_actions(*environment, 2, step));
    EXPECT_EQ(environment->observations().data(), place);
    seen.insert(seen_by(environment->observations(), *environment, 3));
    EXPECT_TRUE(environment->masks().empty() ||
                environment->masks().size() == count * static_cast<size_t>(space.actions));
    for (size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(std::isfinite(environment->rewards()[i]));
      EXPECT_LE(static_cast<int>(environment->ends()[i]), 2);
    }
    if (space.observation.type != ObservationSpace::Type::kReal) continue;
    std::vector<float> numbers(environment->observations().size() / 4);
    std::memcpy(numbers.data(), environment->observations().data(), 4 * numbers.size());
    for (const float number : numbers) EXPECT_TRUE(number >= 0 && number <= 1) << number;
  }
  EXPECT_GT(seen.size(), 2u);
  const Environment::Picture picture = environment->picture(6);
  EXPECT_GE(picture.height * picture.width, 64);
  EXPECT_EQ(static_cast<int64_t>(picture.rgb.size()), picture.height * picture.width * 3);
}

TEST_P(Conformance, PlaysTheLevelsOfItsSetAlone) {
  const auto environment = make(4, 5, Levels::list({3, 8, 8, 30}));
  std::map<int64_t, int64_t> played;
  for (int64_t step = 0; step < 6000; ++step) {
    const std::vector<int64_t> before(environment->levels().begin(), environment->levels().end());
    environment->step(random_actions(*environment, 3, step));
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(environment->levels()[i] == 3 || environment->levels()[i] == 8 ||
                  environment->levels()[i] == 30);
      if (environment->ends()[i] == End::kNone) {
        EXPECT_EQ(environment->levels()[i], before[i]);
      } else {
        EXPECT_EQ(environment->ended_levels()[i], before[i]);
        ++played[before[i]];
      }
    }
  }
  EXPECT_EQ(played.size(), 3u);
}

// The same beginning for the same level, whatever came before, and what was seen last is kept.
TEST_P(Conformance, GoesOnWithTheNextLevelAtOnce) {
  const auto environment = make(5);
  std::map<int64_t, std::vector<std::byte>> beginnings;
  const auto look = [&](int64_t i) {
    const auto seen = seen_by(environment->observations(), *environment, i);
    const int64_t level = environment->levels()[static_cast<size_t>(i)];
    const bool fixed = GetParam().model != "taxi";  // it begins anywhere
    if (!fixed) return;
    EXPECT_EQ(beginnings.emplace(level, seen).first->second, seen) << level;
  };
  for (int64_t i = 0; i < 5; ++i) look(i);
  int64_t ends = 0;
  for (int64_t step = 0; step < 3000; ++step) {
    const Recorded before = told_by(*environment);
    environment->step(random_actions(*environment, 4, step));
    for (int64_t i = 0; i < 5; ++i) {
      const auto last = seen_by(environment->last_observations(), *environment, i);
      if (environment->ends()[static_cast<size_t>(i)] == End::kNone) {
        EXPECT_EQ(last, seen_by(before.last, *environment, i));
        EXPECT_EQ(environment->ended_levels()[static_cast<size_t>(i)],
                  before.ended[static_cast<size_t>(i)]);
      } else {
        ++ends;
        look(i);
      }
    }
  }
  EXPECT_GT(ends, 5);
}

// An episode under way goes on; those that begin later are of preferred levels, after a save too.
TEST_P(Conformance, PrefersLevels) {
  const auto environment = make(4), same = make(4);
  play(*environment, 20);
  play(*same, 20);
  std::vector<double> chances(20);
  chances[5] = 1;  // level 8
  chances[9] = 2;
  environment->prefer(chances);
  EXPECT_EQ(told_by(*environment), told_by(*same));
  const TensorFile saved{.tensors = environment->save("e."), .metadata = {}, .path = "f"};
  const auto again = make(4, 77);
  again->restore(saved, "e.");
  std::set<int64_t> played;
  std::vector<bool> begun(4);
  for (int64_t step = 20; step < 1500; ++step) {
    environment->step(random_actions(*environment, 9, step));
    for (size_t i = 0; i < 4; ++i) {
      if (environment->ends()[i] != End::kNone) begun[i] = true;
      if (begun[i]) played.insert(environment->levels()[i]);
    }
  }
  EXPECT_EQ(played, (std::set<int64_t>{8, 12}));
  played.clear();
  for (int64_t step = 20; step < 1500; ++step) {
    again->step(random_actions(*again, 9, step));
    for (size_t i = 0; i < 4; ++i) {
      if (again->ends()[i] != End::kNone) played.insert(again->levels()[i]);
    }
  }
  EXPECT_EQ(played, (std::set<int64_t>{8, 12}));

  TensorFile broken = saved;
  for (StoredTensor& tensor : broken.tensors) {
    if (tensor.name == "e.chances") std::fill(tensor.bytes.begin(), tensor.bytes.end(), '\0');
  }
  expect_user_error([&] { make(4)->restore(broken, "e."); }, {"f: e.chances"});
}

TEST_P(Conformance, DoesNotDependOnTheOthersBesideIt) {
  const auto few = make(3), many = make(11);
  for (int64_t step = 0; step < 100; ++step) {
    few->step(random_actions(*few, 9, step));
    many->step(random_actions(*many, 9, step));
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(seen_by(few->observations(), *few, i), seen_by(many->observations(), *many, i));
      EXPECT_EQ(few->rewards()[static_cast<size_t>(i)], many->rewards()[static_cast<size_t>(i)]);
    }
  }
}

TEST_P(Conformance, GoesOnWithTheSameBitsAfterASave) {
  const auto environment = make(6);
  for (int64_t step = 0; step < 60; step += 12) {
    const TensorFile saved{.tensors = environment->save("env."), .metadata = {}, .path = {}};
    write_safetensors(scratch_ / "saved", saved);
    const auto again = make(6);
    const auto* const place = again->observations().data();
    again->restore(read_safetensors(scratch_ / "saved"), "env.");
    EXPECT_EQ(again->observations().data(), place);
    EXPECT_EQ(told_by(*again), told_by(*environment));
    EXPECT_EQ(play(*again, 40, step), play(*environment, 40, step));
    // One that went elsewhere comes back.
    environment->restore(saved, "env.");
    play(*environment, 12, step);
  }
}

// The file may be somebody else's.
TEST_P(Conformance, RefusesWhatCannotBeAState) {
  const auto environment = make(4);
  play(*environment, 30);
  const TensorFile saved{.tensors = environment->save("e."), .metadata = {}, .path = "f"};
  expect_user_error([&] { make(5)->restore(saved, "e."); }, {"f: ", "shape"});
  expect_user_error([&] { make(4)->restore(saved, "x."); }, {"f: no tensor 'x."});
  Rng rng(1);
  int refused = 0;
  for (int trial = 0; trial < 200; ++trial) {
    TensorFile broken = saved;
    StoredTensor& tensor = broken.tensors[rng.below(static_cast<uint32_t>(saved.tensors.size()))];
    for (int flips = 0; flips < 3; ++flips) {
      tensor.bytes[rng.below(static_cast<uint32_t>(tensor.bytes.size()))] =
          static_cast<char>(rng.below(256));
    }
    const auto other = make(4);
    const Recorded before = told_by(*other);
    try {
      other->restore(broken, "e.");
      play(*other, 5);  // as long as it does no harm
    } catch (const UserError&) {
      ++refused;
      EXPECT_EQ(told_by(*other), before);
    }
  }
  EXPECT_GT(refused, 10);
}

// Enough of them for several parts.
TEST_P(Conformance, IsTheSameForAnyNumberOfThreads) {
  std::vector<std::vector<size_t>> transcripts;
  for (const int threads : {1, 2, 3}) {
    set_default_threads(threads);
    const auto environment = make(kind() == "procgen" ? 150 : 3000);
    std::vector<size_t>& transcript = transcripts.emplace_back();
    const auto note = [&](const auto& span) {
      const auto* const bytes = reinterpret_cast<const char*>(span.data());
      transcript.push_back(std::hash<std::string_view>()({bytes, span.size_bytes()}));
    };
    for (int64_t step = 0; step < 10; ++step) {
      environment->step(random_actions(*environment, 9, step));
      note(environment->observations());
      note(environment->last_observations());
      note(environment->rewards());
      note(environment->ends());
      note(environment->levels());
    }
  }
  set_default_threads(hardware_threads());
  EXPECT_EQ(transcripts[0], transcripts[1]);
  EXPECT_EQ(transcripts[0], transcripts[2]);
}

TEST_P(Conformance, AllocatesNothingInAStep) {
  if (kind() == "procgen") GTEST_SKIP() << "its library does";
  const auto environment = make(12);
  std::vector<std::vector<int32_t>> actions;
  for (int64_t step = 0; step < 1000; ++step) {
    actions.push_back(random_actions(*environment, 4, step));
    environment->step(actions.back());
  }
  if (!environment->masks().empty()) return;  // the actions would have to be drawn in between
  const int64_t before = allocations_so_far();
  for (const auto& each : actions) environment->step(each);
  EXPECT_EQ(allocations_so_far(), before);
}

TEST_P(Conformance, RefusesWhatItCannotBeTold) {
  expect_user_error([&] { make(0); }, {"0 environments", "expected 1 to"});
  expect_user_error([&] { make(int64_t{1} << 40); }, {"expected 1 to"});
  expect_user_error(
      [&] {
        make_environment(GetParam().name, {.arguments = {{"wall", 1}}});
      },
      {kind() + " takes no 'wall'"});
}

INSTANTIATE_TEST_SUITE_P(Every, Conformance, ::testing::ValuesIn(cases()), [](const auto& one) {
  std::string name;
  for (const char letter : one.param.name + one.param.model) {
    name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  }
  return name;
});

TEST(Environments, AreFoundByName) {
  EXPECT_EQ(environment_name("maze"), "maze/symbols");
  EXPECT_EQ(environment_name("heist/pixels"), "heist/pixels");
  EXPECT_EQ(environment_name("zookeeper"), "zookeeper");
  expect_user_error([] { environment_name("maz"); },
                    {"unknown environment 'maz'", "did you mean 'maze'?", "zookeeper"});
  expect_user_error([] { environment_name("maze/pixel"); },
                    {"no maze/pixel", "did you mean 'pixels'?", "symbols, pixels"});
  expect_user_error([] { environment_name("zookeeper/pixels"); }, {"one form only"});
  expect_user_error([] { environment_name(""); }, {"unknown environment ''"});
}

}  // namespace
}  // namespace agora::agents

// The real games: what we decide on, levels and limits, against the library left to itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "agents/players.h"
#include "agents/procgen/games.h"
#include "agents/procgen/state.h"
#include "agents/replay.h"
#include "support/program.h"

namespace agora::agents {
namespace {

using procgen::Games, procgen::kObservation;

std::vector<std::string> games() {
  for (const EnvironmentKind& kind : environments()) {
    if (kind.name == "procgen") return kind.forms;
  }
  return {};
}

class Procgen : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = procgen::missing(); !why.empty()) GTEST_SKIP() << why;
  }
};

// One game of the library with one level, which it draws itself.
struct Alone {
  std::vector<std::byte> seen = std::vector<std::byte>(kObservation);
  Games games;

  Alone(const std::string& game, int64_t level, bool hard = false)
      : games({.game = game, .hard = hard, .first_level = static_cast<int32_t>(level), .levels = 1},
              seen) {}
};

std::unique_ptr<Environment> make_game(const std::string& game, Levels levels, int64_t count,
                                       uint64_t seed = 3, Arguments arguments = {}) {
  return make_environment("procgen/" + game, {.levels = std::move(levels),
                                              .count = count,
                                              .seed = seed,
                                              .arguments = std::move(arguments)});
}

TEST_F(Procgen, BeginsEachLevelAsTheLibraryDoes) {
  for (const std::string& game : games()) {
    for (const bool hard : {false, true}) {
      Arguments arguments;
      if (hard) arguments.emplace("hard", true);
      const auto row =
          make_game(game, Levels::list({0, 7, 199, 2'000'000'011}), 6, 3, std::move(arguments));
      for (int64_t i = 0; i < 6; ++i) {
        const int64_t level = row->levels()[static_cast<size_t>(i)];
        const Alone alone(game, level, hard);
        EXPECT_EQ(seen_by(row->observations(), *row, i), alone.seen) << game << " " << level;
        EXPECT_EQ(alone.games.level(), level);
      }
    }
  }
}

// Through one episode and into the next, which begins as if it were the first.
TEST_F(Procgen, PlaysAsTheLibraryDoes) {
  for (const std::string& game : games()) {
    const auto row = make_game(game, Levels::range(11, 1), 1);
    Alone alone(game, 11);
    const std::vector<std::byte> beginning = alone.seen;
    const std::vector<std::byte> last = seen_by(row->last_observations(), *row, 0);
    EXPECT_FALSE(row->shows_ends());
    for (int64_t step = 0; step < 450; ++step) {
      const std::vector<int32_t> actions = random_actions(*row, 8, step);
      row->step(actions);
      alone.games.step(actions);
      ASSERT_EQ(row->rewards()[0], alone.games.reward()) << game << " " << step;
      ASSERT_EQ(row->ends()[0] == End::kTerminated, alone.games.ended()) << game << " " << step;
      ASSERT_EQ(seen_by(row->observations(), *row, 0), alone.seen) << game << " " << step;
      if (!alone.games.ended()) continue;
      EXPECT_EQ(alone.seen, beginning);
      EXPECT_EQ(seen_by(row->last_observations(), *row, 0), last);  // nobody knows
      EXPECT_EQ(row->ended_levels()[0], 11);
    }
  }
}

// What an episode came to is not shown, so nothing of it is remembered.
TEST_F(Procgen, TellsLearnersNothingOfAnEnd) {
  const auto row = make_game("bigfish", Levels::range(0, 9), 3);
  int ends = 0;
  for (int64_t step = 0; step < 600; ++step) {
    const std::vector<std::byte> seen(row->observations().begin(), row->observations().end());
    const std::vector<int32_t> actions = random_actions(*row, 8, step);
    row->step(actions);
    tell_transitions(*row, seen, actions, [&](int64_t, const Transition& told) {
      if (told.goes_on) return;
      ++ends;
      EXPECT_TRUE(std::equal(told.next.begin(), told.next.end(), told.seen.begin()));
    });
  }
  EXPECT_GT(ends, 3);
}

TEST_F(Procgen, DrawsTheLevelsOfItsSetEpisodeByEpisode) {
  const Levels sample = Levels::range(40, 20).bootstrap(2, 1);
  const auto row = make_game("bigfish", sample, 2, 6);
  std::vector<int64_t> episodes(2);
  for (int64_t step = 0; episodes[0] < procgen::kPlanned + 5; ++step) {
    ASSERT_LT(step, 400'000);
    row->step(random_actions(*row, 4, step));
    for (int64_t i = 0; i < 2; ++i) {
      const auto k = static_cast<size_t>(i);
      if (row->ends()[k] == End::kNone) continue;
      ASSERT_EQ(row->ended_levels()[k], sample.draw(6, i, episodes[k]));
      ASSERT_EQ(row->levels()[k], sample.draw(6, i, ++episodes[k]));
    }
  }
}

TEST_F(Procgen, KnowsTheFirstAndTheLastLevel) {
  const int64_t last = Levels::kAll - 1;
  const auto row = make_game("maze", Levels::list({0, last}), 20);
  std::map<int64_t, std::vector<std::byte>> seen;
  for (int64_t i = 0; i < 20; ++i) {
    const auto own = seen_by(row->observations(), *row, i);
    const int64_t level = row->levels()[static_cast<size_t>(i)];
    EXPECT_EQ(seen.emplace(level, own).first->second, own);
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen.count(last), 1u);
  EXPECT_NE(seen.begin()->second, seen.rbegin()->second);
}

// Up and down until the limit, which the library left alone would not show.
TEST_F(Procgen, TellsACutOffFromAnEndAndShowsWhatWasSeenLast) {
  constexpr int64_t kLimit = 500;
  constexpr int32_t kUp = 5, kDown = 3;
  int moved = 0;
  for (const int64_t level : {1, 2, 3, 4}) {
    const auto row = make_game("maze", Levels::range(level, 1), 1);
    Alone alone("maze", level);
    const std::vector<std::byte> beginning = alone.seen;
    std::string state;
    alone.games.get_state(state);
    EXPECT_EQ(procgen::StateHead::of(state)->limit, kLimit);
    procgen::lift_limit(state);
    alone.games.set_state(state);
    std::vector<std::byte> before;
    for (int64_t step = 1; step <= kLimit; ++step) {
      ASSERT_EQ(seen_by(row->observations(), *row, 0), alone.seen);
      before = alone.seen;
      const std::vector<int32_t> action{step % 2 == 1 ? kUp : kDown};
      row->step(action);
      alone.games.step(action);
      ASSERT_FALSE(alone.games.ended());
      ASSERT_EQ(row->ends()[0], step == kLimit ? End::kCutOff : End::kNone) << level << " " << step;
    }
    EXPECT_EQ(row->rewards()[0], 0);
    EXPECT_EQ(seen_by(row->last_observations(), *row, 0), alone.seen);
    EXPECT_EQ(seen_by(row->observations(), *row, 0), beginning);
    moved += before != alone.seen;
    row->step(std::vector<int32_t>{kUp});
    EXPECT_EQ(row->ends()[0], End::kNone);
  }
  EXPECT_GT(moved, 0);
}

// Where nothing is done and nothing happens, the library itself tells its limits.
TEST_F(Procgen, HasTheLimitsOfTheLibrary) {
  const std::map<std::string, int64_t> limits{
      {"maze", 500}, {"leaper", 500}, {"climber", 1000}, {"heist", 1000}};
  for (const auto& [game, limit] : limits) {
    const auto row = make_game(game, Levels::range(5, 1), 1);
    Alone alone(game, 5);
    const std::vector<int32_t> nothing{4};
    for (int64_t step = 1; step <= limit; ++step) {
      row->step(nothing);
      alone.games.step(nothing);
      ASSERT_EQ(alone.games.ended(), step == limit) << game << " " << step;
      ASSERT_EQ(row->ends()[0], step == limit ? End::kCutOff : End::kNone) << game << " " << step;
    }
  }
}

TEST_F(Procgen, GoesOnAfterASaveInEveryGame) {
  for (const std::string& game : games()) {
    const auto row = make_game(game, Levels::range(0, 50), 3);
    for (int64_t step = 0; step < 70; ++step) row->step(random_actions(*row, 1, step));
    const TensorFile saved{.tensors = row->save(""), .metadata = {}, .path = "f"};
    const auto other = make_game(game, Levels::range(0, 50), 3);
    other->restore(saved, "");
    for (int64_t step = 70; step < 300; ++step) {
      row->step(random_actions(*row, 1, step));
      other->step(random_actions(*other, 1, step));
      for (int64_t i = 0; i < 3; ++i) {
        ASSERT_EQ(seen_by(row->observations(), *row, i), seen_by(other->observations(), *other, i))
            << game << " " << step;
      }
      ASSERT_TRUE(
          std::equal(row->rewards().begin(), row->rewards().end(), other->rewards().begin()));
      ASSERT_TRUE(std::equal(row->levels().begin(), row->levels().end(), other->levels().begin()));
    }
    const auto bytes = [](const Environment& environment) {
      std::vector<std::string> all;
      for (const StoredTensor& tensor : environment.save("")) {
        all.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
      }
      return all;
    };
    EXPECT_TRUE(bytes(*row) == bytes(*other)) << game;
  }
}

TEST_F(Procgen, RefusesTheStateOfAnotherGame) {
  const auto row = make_game("maze", Levels::range(0, 50), 2);
  const TensorFile saved{.tensors = row->save(""), .metadata = {}, .path = "f"};
  const auto refused = [&](const std::string& game, const Arguments& arguments) {
    expect_user_error(
        [&] { make_game(game, Levels::range(0, 50), 2, 3, arguments)->restore(saved, ""); },
        {"f: ", "holds what no such environment can be in"});
  };
  refused("heist", {});
  refused("maze", {{"hard", true}});
  refused("maze", {{"plain", true}});
}

TEST_F(Procgen, LooksAsItIsTold) {
  const auto look = [](const Arguments& arguments) {
    const auto row = make_game("coinrun", Levels::range(3, 1), 1, 3, arguments);
    return seen_by(row->observations(), *row, 0);
  };
  std::set<std::vector<std::byte>> looks{look({})};
  for (const std::string each : {"hard", "plain", "monochrome", "one-theme"}) {
    EXPECT_TRUE(looks.insert(look({{each, true}})).second) << each;
  }
}

TEST(ProcgenState, MakesAMersenneTwisterDrawWhatIsPlanned) {
  if (!procgen::missing().empty()) GTEST_SKIP() << procgen::missing();
  const Alone alone("maze", 1);
  std::string state;
  alone.games.get_state(state);
  const auto planned = [](int64_t episode) { return (episode * 2'654'435'761) % Levels::kAll; };
  for (const int64_t next : {0, 5, 623, 624, 1300}) {
    procgen::plan_levels(state, next, planned);
    const auto head = procgen::StateHead::of(state);
    ASSERT_TRUE(head.has_value());
    std::istringstream text(state.substr(head->generator_at + 4, head->generator_size - 4));
    std::mt19937 generator;
    text >> generator;
    const int64_t end = (next / procgen::kPlanned + 1) * procgen::kPlanned;
    for (int64_t episode = next; episode < end; ++episode) {
      ASSERT_EQ(static_cast<int64_t>(generator()), planned(episode)) << next << " " << episode;
    }
  }
}

TEST(ProcgenState, IsNotReadOutOfAnythingElse) {
  EXPECT_FALSE(procgen::StateHead::of("").has_value());
  EXPECT_FALSE(procgen::StateHead::of(std::string(40'000, '\0')).has_value());
  EXPECT_FALSE(procgen::StateHead::of(std::string(40'000, '\xff')).has_value());
}

// The program says in one line what is wrong, whatever lies where the library should.
TEST(ProcgenVerbs, AskForTheLibraryOrRefuseIt) {
  const Scratch scratch;
  const auto told = [&](const std::string& folder) {
    const auto result = agora::testing::shell(
        "AGORA_PROCGEN=" + folder + " agora agent train ppo --env procgen/maze --steps 1 --out p",
        scratch.path());
    EXPECT_EQ(result.status, 2) << result.err << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const auto expect = [&](const std::string& folder, const std::string& fragment) {
    const std::string line = told(folder);
    EXPECT_NE(line.find(fragment), std::string::npos) << line;
  };
  expect("nowhere", "`scripts/get-procgen FOLDER`");
  std::filesystem::create_directories(scratch / "broken/assets");
  scratch.put("broken/libenv.so",
              "\x7f"
              "ELF and no more");
  expect("broken", "broken/libenv.so is not as procgen 0.10.7 has it");
  if (!procgen::missing().empty()) return;
  // The true one without its pictures.
  std::filesystem::remove(scratch / "broken/libenv.so");
  std::filesystem::create_symlink(std::filesystem::absolute(procgen::find_folder() / "libenv.so"),
                                  scratch / "broken/libenv.so");
  expect("broken", "broken/assets is not as");
}

}  // namespace
}  // namespace agora::agents

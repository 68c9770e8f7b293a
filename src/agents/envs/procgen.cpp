// The sixteen games of Procgen (Cobbe et al. 2020) as their library plays them.
#include <algorithm>

#include "agents/procgen/rows.h"
#include "base/error.h"

namespace agora::agents::kind_procgen {
namespace {

// For normalised scores: what is earned blindly, and the most that can be (Cobbe et al. 2020,
// appendix C).
struct Scores {
  double least, most;
};
struct Game {
  const char* name;
  Scores easy, hard;
};
constexpr Game kGames[] = {
    {"coinrun", {5, 10}, {5, 10}},           {"starpilot", {2.5, 64}, {1.5, 35}},
    {"caveflyer", {3.5, 12}, {2, 13.4}},     {"dodgeball", {1.5, 19}, {1.5, 19}},
    {"fruitbot", {-1.5, 32.4}, {-.5, 27.2}}, {"chaser", {.5, 13}, {.5, 14.2}},
    {"miner", {1.5, 13}, {1.5, 20}},         {"jumper", {3, 10}, {1, 10}},
    {"leaper", {3, 10}, {1.5, 10}},          {"maze", {5, 10}, {4, 10}},
    {"bigfish", {1, 40}, {0, 40}},           {"heist", {3.5, 10}, {2, 10}},
    {"climber", {2, 12.6}, {1, 12.6}},       {"plunder", {4.5, 30}, {3, 30}},
    {"ninja", {3.5, 10}, {2, 10}},           {"bossfight", {.5, 13}, {.5, 13}}};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Game& game : kGames) all.emplace_back(game.name);
  return all;
}

std::vector<Parameter> parameters() {
  return {flag("hard", "the hard levels in place of the easy ones"),
          flag("plain", "no pictures behind the scene"),
          flag("monochrome", "each kind of thing in one colour"),
          flag("one-theme", "the same looks in every level")};
}

std::unique_ptr<Environment> make(const std::string& form, const EnvironmentOptions& options) {
  const Told told("procgen", parameters(), options.arguments);
  const auto* const game = std::find_if(std::begin(kGames), std::end(kGames),
                                        [&](const Game& each) { return form == each.name; });
  CHECK(game != std::end(kGames), "game {}", form);
  const Scores& scores = told.flag("hard") ? game->hard : game->easy;
  return std::make_unique<procgen::Rows>(
      procgen::Settings{.game = form,
                        .hard = told.flag("hard"),
                        .backgrounds = !told.flag("plain"),
                        .monochrome = told.flag("monochrome"),
                        .one_theme = told.flag("one-theme")},
      Space{{ObservationSpace::Type::kByte, {procgen::kSide, procgen::kSide, 3}},
            procgen::kActions,
            scores.least,
            scores.most},
      options);
}

}  // namespace

EnvironmentKind entry_procgen() {
  return {.name = "procgen",
          .summary = "the sixteen games of Procgen, 64x64 pixels, as their library plays them",
          .forms = names(),
          .parameters = parameters(),
          .missing = [](const Arguments&) { return procgen::missing(); },
          .make = make};
}

}  // namespace agora::agents::kind_procgen

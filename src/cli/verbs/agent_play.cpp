#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/signals.h"
#include "base/text.h"
#include "cli/agent_options.h"
#include "report/film.h"
#include "report/gif.h"

namespace agora::cli::kind_agent_play {
namespace {

constexpr int64_t kColumns = 64;  // of a picture in the terminal
constexpr size_t kMostFrames = 2000;

struct Settings {
  std::shared_ptr<PolicyOptions> policy;
  std::string out;
  int64_t rate = 15;  // pictures a second
};

bool is_gif(const std::string& file) { return std::filesystem::path(file).extension() == ".gif"; }

// Told before anything is played.
std::string not_a_film(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (is_gif(file) || extension == ".png" || extension == ".apng") return "";
  return fmt::format("expected a name that ends in .png or .gif, found '{}'", printable(file));
}

// Two pixels to a character, one above the other.
std::string drawn(const agents::Environment::Picture& picture) {
  const int64_t every = std::max<int64_t>(1, (picture.width + kColumns - 1) / kColumns);
  const auto colour = [&](int64_t y, int64_t x) {
    const auto at = static_cast<size_t>((std::min(y, picture.height - 1) * picture.width + x) * 3);
    return fmt::format("{};{};{}", picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]);
  };
  std::string out;
  for (int64_t y = 0; y < picture.height; y += 2 * every) {
    for (int64_t x = 0; x < picture.width; x += every) {
      out += fmt::format("\x1b[38;2;{}m\x1b[48;2;{}m\u2580", colour(y, x), colour(y + every, x));
    }
    out += "\x1b[0m\n";
  }
  return out;
}

std::vector<agents::Episode> show(agents::Policy& policy, const Settings& settings) {
  const auto pause = std::chrono::milliseconds(1000 / settings.rate);
  bool first = true;
  return agents::watch(
      policy, settings.policy->how,
      [&](const agents::Environment::Picture& picture, const agents::Episode& now) {
        const std::string text = drawn(picture);
        const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
        if (!std::exchange(first, false)) fmt::print("\x1b[{}A", lines);
        fmt::print("{}level {}  step {}  return {:g}\x1b[K\n", text, now.level, now.steps,
                   now.earned);
        std::fflush(stdout);
        std::this_thread::sleep_for(pause);
      });
}

void run(const Settings& settings, const Common& common) {
  PolicyOptions& options = *settings.policy;
  const auto actor = options.load(1);
  options.how.seed = common.seed;
  std::vector<agents::Episode> episodes;
  if (!settings.out.empty()) {
    const report::Film made = report::film(*actor, options.how, settings.rate, kMostFrames);
    episodes = made.episodes;
    write_atomically(settings.out, is_gif(settings.out) ? report::encode_gif(made.frames)
                                                        : report::encode_apng(made.frames));
    note_saved(fmt::format("wrote {}", settings.out));
    if (!made.whole) tell("{} holds the first {} pictures\n", settings.out, kMostFrames);
  } else if (isatty(STDOUT_FILENO) == 1 && !common.json) {
    episodes = show(*actor, settings);
  } else {
    episodes = agents::watch(*actor, options.how, [](const auto&, const auto&) {});
  }
  if (common.json) {
    Json all = Json::array();
    for (const agents::Episode& each : episodes) {
      all.push_back({{"level", each.level},
                     {"return", each.earned},
                     {"steps", each.steps},
                     {"cut_off", each.cut_off}});
    }
    Json result{{"env", options.how.environment}, {"episodes", std::move(all)}};
    if (!settings.out.empty()) result["file"] = settings.out;
    return print_json(result);
  }
  for (const agents::Episode& each : episodes) {
    fmt::print("level {:<10} return {:<8.4g} {} steps{}\n", each.level, each.earned, each.steps,
               each.cut_off ? ", cut off" : "");
  }
}

}  // namespace

Verb entry_agent_play() {
  return {.name = "agent play",
          .summary = "Watch a policy play, in the terminal or as an animated PNG or GIF",
          .example = "agora agent play random --env maze --episodes 1 --out maze.png",
          .takes_device = true,
          .declare = [](OptionList& app) {
            auto settings = std::make_shared<Settings>();
            settings->policy = declare_policy(app);
            settings->policy->how.episodes = 3;
            app.add("--episodes", settings->policy->how.episodes, "Episodes to play")
                .check(between(1, 100'000))
                .shows_default();
            app.add("--rate", settings->rate, "Pictures a second")
                .check(between(1, 100))
                .shows_default();
            app.add("--out", settings->out,
                    "Write an animated PNG or GIF, by its extension, in place of playing here")
                .check({not_a_film});
            return [settings](const Common& common) { run(*settings, common); };
          }};
}

}  // namespace agora::cli::kind_agent_play

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "agents/evaluation/watch.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/signals.h"
#include "cli/agent_options.h"
#include "report/png.h"

namespace agora::cli {
namespace {

constexpr int64_t kColumns = 64;  // of a picture in the terminal
constexpr size_t kMostFrames = 2000;

struct Settings {
  std::shared_ptr<PolicyOptions> policy;
  std::string out;
  int64_t rate = 15;  // pictures a second
};

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

void run(const Settings& settings, const Common& common) {
  PolicyOptions& options = *settings.policy;
  const auto actor = options.load(1);
  options.how.seed = common.seed;
  const bool shows = isatty(STDOUT_FILENO) == 1 && settings.out.empty() && !common.json;
  const auto pause = std::chrono::milliseconds(1000 / settings.rate);
  std::vector<report::Raster> frames;
  bool first = true;
  const auto show = [&](const agents::Environment::Picture& picture, const agents::Episode& now) {
    if (!settings.out.empty() && frames.size() < kMostFrames) {
      report::Raster& frame = frames.emplace_back();
      frame.width = picture.width;
      frame.height = picture.height;
      frame.pixels = picture.rgb;
    }
    if (!shows) return;
    const std::string text = drawn(picture);
    const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
    if (!std::exchange(first, false)) fmt::print("\x1b[{}A", lines);
    fmt::print("{}level {}  step {}  return {:g}\x1b[K\n", text, now.level, now.steps, now.earned);
    std::fflush(stdout);
    std::this_thread::sleep_for(pause);
  };
  const auto episodes = agents::watch(*actor, options.how, show);
  if (!settings.out.empty()) {
    write_atomically(settings.out,
                     report::encode_apng(frames, static_cast<int>(1000 / settings.rate)));
    note_saved(fmt::format("wrote {}", settings.out));
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
  if (frames.size() == kMostFrames) {
    tell("{} holds the first {} pictures\n", settings.out, kMostFrames);
  }
}

}  // namespace

Verb entry_agent_play() {
  return {.name = "agent play",
          .summary = "Watch a policy play, in the terminal or as an animated PNG",
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
            app.add("--out", settings->out, "Write an animated PNG in place of playing here");
            return [settings](const Common& common) { run(*settings, common); };
          }};
}

}  // namespace agora::cli

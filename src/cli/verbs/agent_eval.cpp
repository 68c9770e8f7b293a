#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "base/error.h"
#include "base/run_folder.h"
#include "base/text.h"
#include "cli/agent_options.h"

namespace agora::cli {
namespace {

struct Settings {
  std::string policy, levels = "unseen", environment;
  int64_t trained = 200;
  agents::EvaluationOptions how;
};

// A count from 0 on, or all that follow on those the policy learned on.
agents::Levels levels_of(const Settings& settings) {
  if (settings.levels == "unseen") {
    return agents::Levels::range(settings.trained, agents::Levels::kAll - settings.trained);
  }
  int64_t count = 0;
  if (!option_types::read(settings.levels, count).empty() || count < 1) {
    throw user_error("--levels: expected unseen or a number of levels, found '{}'",
                     printable(settings.levels));
  }
  return agents::Levels::range(0, count);
}

void run(Settings settings, const Common& common) {
  const auto began = std::chrono::steady_clock::now();
  std::filesystem::path file = settings.policy;
  if (std::filesystem::is_directory(file)) {
    const Json run = read_run_settings(file);
    if (const Json* levels = run.find("levels")) levels->read(settings.trained);
    file /= "policy.safetensors";
  }
  const agents::SavedPolicy policy = agents::load_policy(file);
  settings.how.environment = agents::environment_name(
      settings.environment.empty() ? policy.environment : settings.environment);
  settings.how.levels = levels_of(settings);
  settings.how.seed = common.seed;
  const auto actor = agents::make_policy(policy, settings.how.environments);
  const agents::Evaluation found = agents::evaluate(*actor, settings.how);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (common.json) {
    Json result{{"env", settings.how.environment},
                {"policy", file.string()},
                {"levels", settings.how.levels.text()},
                {"greedy", settings.how.greedy}};
    result.update(evaluation_json(found));
    result["seconds"] = seconds;
    return print_json(result);
  }
  fmt::print("{} in {}\n{}", file.string(), settings.how.environment,
             evaluation_line(settings.how.levels.text(), found));
}

}  // namespace

Verb entry_agent_eval() {
  return {.name = "agent eval",
          .summary = "What a policy earns on levels it has seen or not",
          .example =
              "agora agent train ppo --steps 5000 --levels 5 --episodes 10 --out p.safetensors "
              "&& agora agent eval p.safetensors --episodes 50",
          .takes_device = true,
          .declare = [](OptionList& app) {
            auto settings = std::make_shared<Settings>();
            app.add("policy", settings->policy, "A run's folder, or a policy's file").required();
            app.add("--env", settings->environment, "In place of the one it learned in");
            app.add("--levels", settings->levels, "unseen, or so many levels from 0 on")
                .shows_default();
            app.add("--trained-levels", settings->trained,
                    "Of a file: levels it learned on, which unseen leaves out")
                .check(between(0, 10'000'000))
                .shows_default();
            app.add("--episodes", settings->how.episodes, "Episodes to play")
                .check(between(1, 10'000'000))
                .shows_default();
            app.add("--environments", settings->how.environments, "Environments side by side")
                .check(between(1, 100'000))
                .shows_default();
            app.flag("--greedy", settings->how.greedy, "The likeliest action, not a draw");
            return [settings](const Common& common) { run(*settings, common); };
          }};
}

}  // namespace agora::cli

#include <fmt/format.h>

#include <chrono>

#include "cli/agent_options.h"

namespace agora::cli::kind_agent_eval {
namespace {

void run(PolicyOptions settings, const Common& common) {
  const auto began = std::chrono::steady_clock::now();
  const auto actor = settings.load(settings.how.environments);
  settings.how.seed = common.seed;
  const agents::Evaluation found = agents::evaluate(*actor, settings.how);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (common.json) {
    Json result{{"env", settings.how.environment},      {"policy", settings.file()},
                {"levels", settings.how.levels.text()}, {"greedy", settings.how.greedy},
                {"recall", settings.remembers.cost},    {"seed", common.seed}};
    if (settings.explores) {
      result["agree"] = settings.explores->agree;
      result["explore_steps"] = settings.explores->steps;
    }
    result.update(evaluation_json(found));
    result["seconds"] = seconds;
    return print_json(result);
  }
  fmt::print("{} in {}\n{}", settings.file(), settings.how.environment,
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
            auto settings = declare_policy(app);
            app.add("--episodes", settings->how.episodes, "Episodes to play")
                .check(between(1, 10'000'000))
                .shows_default();
            app.add("--environments", settings->how.environments, "Environments side by side")
                .check(between(1, 100'000))
                .shows_default();
            return [settings](const Common& common) { run(*settings, common); };
          }};
}

}  // namespace agora::cli::kind_agent_eval

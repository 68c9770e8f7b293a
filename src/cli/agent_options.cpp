#include "cli/agent_options.h"

#include <fmt/format.h>

namespace agora::cli {

std::shared_ptr<WorldOptions> declare_world(OptionList& app, const std::string& preset) {
  auto options = std::make_shared<WorldOptions>();
  options->name = preset;
  std::vector<std::string> names;
  for (const agents::EnvironmentKind& kind : agents::environments()) {
    names.push_back(kind.name);
    for (const std::string& form : kind.forms) names.push_back(kind.name + "/" + form);
  }
  app.add("--env", options->name, "An environment of `agora agent list`")
      .check({[](const std::string& text) {
        agents::environment_name(text);  // told before what is missing
        return std::string();
      }})
      .offers(names, false)
      .shows_default();
  options->told = std::make_shared<KindOptions>(app, kinds_of(agents::environments()), "env-");
  return options;
}

Arguments WorldOptions::arguments() const { return told->given_to(name.substr(0, name.find('/'))); }

Json evaluation_json(const agents::Evaluation& evaluation) {
  return {{"mean", evaluation.mean},
          {"ci95", {evaluation.low, evaluation.high}},
          {"episodes", evaluation.episodes},
          {"normalised", evaluation.normalised},
          {"length", evaluation.length}};
}

std::string evaluation_line(const std::string& name, const agents::Evaluation& evaluation) {
  return fmt::format("  {:<16} {:.3f}  [{:.3f}, {:.3f}]  {} episodes of {:.1f} steps\n", name,
                     evaluation.mean, evaluation.low, evaluation.high, evaluation.episodes,
                     evaluation.length);
}

}  // namespace agora::cli

#include "cli/agent_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace agora::cli {
namespace {

constexpr const char* kRandom = "random";

// A count from 0 on, one level, or all that follow on those the policy was learned on.
agents::Levels levels_told(const std::string& words, int64_t trained) {
  if (words == "unseen") return agents::Levels::range(trained, agents::Levels::kAll - trained);
  const bool one = words.starts_with("=");
  int64_t number = 0;
  if (!option_types::read(one ? words.substr(1) : words, number).empty() ||
      number < (one ? 0 : 1) || number >= agents::Levels::kAll) {
    throw user_error("--levels: expected unseen, a number of levels or =LEVEL, found '{}'",
                     printable(words));
  }
  return one ? agents::Levels::range(number, 1) : agents::Levels::range(0, number);
}

}  // namespace

std::shared_ptr<WorldOptions> declare_world(OptionList& app, const std::string& preset) {
  auto options = std::make_shared<WorldOptions>();
  options->name = preset;
  std::vector<std::string> names;
  for (const agents::EnvironmentKind& kind : agents::environments()) {
    names.push_back(kind.name);
    for (const std::string& form : kind.forms) names.push_back(kind.name + "/" + form);
  }
  Option& name = app.add("--env", options->name,
                         preset.empty() ? "In place of the environment it learned in"
                                        : "An environment of `agora agent list`")
                     .check({[](const std::string& text) {
                       agents::environment_name(text);  // told before what is missing
                       return std::string();
                     }})
                     .offers(names, false);
  if (!preset.empty()) name.shows_default();
  options->told = std::make_shared<KindOptions>(app, kinds_of(agents::environments()), "env-");
  return options;
}

std::string world_kind(const std::string& name) { return name.substr(0, name.find('/')); }

Arguments WorldOptions::arguments() const { return told->given_to(world_kind(name)); }

std::string PolicyOptions::file() const {
  if (!std::filesystem::is_directory(policy)) return policy;
  return (std::filesystem::path(policy) / "policy.safetensors").string();
}

agents::MemoryOptions PolicyOptions::memory_in_place_of(agents::MemoryOptions own) const {
  for (const auto& each : agents::memory_parameters()) {
    if (const auto& number = told.at(each.name)) each.set(own, *number);
  }
  if (own.cost == 0 && told.at("recall-radius")) {
    throw user_error("--recall-radius: the policy has no memory; --recall gives it one");
  }
  return own;
}

void PolicyOptions::expect_no_explorer() const {
  for (const auto& each : agents::exploration_parameters()) {
    if (told.at(each.name)) throw user_error("--{}: the policy has no explorer", each.name);
  }
}

std::unique_ptr<agents::Policy> PolicyOptions::load(int64_t rows) {
  std::unique_ptr<agents::Policy> actor;
  how.environment = world->name;
  if (policy == kRandom) {
    if (world->name.empty()) throw user_error("--env is required: where should it play?");
    how.environment_arguments = world->arguments();
    const auto env =
        agents::make_environment(how.environment, {.levels = agents::Levels::range(0, 1),
                                                   .count = 1,
                                                   .arguments = how.environment_arguments});
    actor = agents::random_policy(env->space());
    expect_no_explorer();
    remembers = memory_in_place_of(remembers);
    if (remembers.cost > 0) actor = agents::remembering(std::move(actor), rows, remembers);
  } else {
    agents::SavedPolicy saved = agents::load_policy(file());
    remembers = saved.memory = memory_in_place_of(saved.memory);
    if (saved.explorer.empty()) {
      expect_no_explorer();
    } else {
      for (const auto& each : agents::exploration_parameters()) {
        if (const auto& number = told.at(each.name)) each.set(saved.exploration, *number);
      }
      explores = saved.exploration;
    }
    trained = saved.levels;
    how.environment_arguments = saved.environment_arguments;
    if (world->name.empty()) {
      how.environment = saved.environment;
      for (const auto& [name, value] : world->told->given_to(world_kind(how.environment))) {
        how.environment_arguments.insert_or_assign(name, value);
      }
    } else {
      how.environment_arguments = world->arguments();
    }
    actor = agents::make_policy(saved, rows);
  }
  how.environment = agents::environment_name(how.environment);
  how.levels = levels_told(levels, trained);
  return actor;
}

std::shared_ptr<PolicyOptions> declare_policy(OptionList& app) {
  auto options = std::make_shared<PolicyOptions>();
  app.add("policy", options->policy, "A run's folder, a policy's file, or random").required();
  options->world = declare_world(app, "");
  app.add("--levels", options->levels, "unseen, so many from 0 on, or =LEVEL").shows_default();
  const auto declare = [&](const Parameter& each) {
    app.add("--" + each.name, options->told[each.name],
            fmt::format("In place of the policy's own: {}", each.summary))
        .check(within(each));
  };
  for (const auto& each : agents::memory_parameters()) declare(each);
  for (const auto& each : agents::exploration_parameters()) declare(each);
  app.flag("--greedy", options->how.greedy, "The likeliest action, not a draw");
  return options;
}

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

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "agents/algorithm.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "cli/agent_options.h"
#include "cli/train_seeds.h"
#include "report/film.h"
#include "report/run_metrics.h"

namespace agora::cli::kind_agent_train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kReports = 200;                      // rows of metrics.csv
constexpr int64_t kFilmed = 3, kPicturesASecond = 15;  // episodes of a film
constexpr size_t kMostPictures = 450;

const SeedsOf kSeeds{.verb = {"agent", "train"},
                     .heading = {"algorithm", "env"},
                     .quantities = {{"train", "training levels", JsonPath("/train/mean")},
                                    {"test", "unseen levels", JsonPath("/test/mean")},
                                    {"gap", "gap", JsonPath("/gap")}}};

struct Settings {
  std::string algorithm, seeds, run, out;
  int64_t levels = 200, episodes = 500, looks = 0;
  bool profile = false;
  agents::AgentOptions agent;
  std::shared_ptr<WorldOptions> world;
  std::shared_ptr<KindOptions> told;
};

agents::Evaluation evaluate(const agents::SavedPolicy& policy, const Settings& settings,
                            const agents::Levels& levels, int64_t episodes, uint64_t seed) {
  const agents::EvaluationOptions how{.environment = settings.agent.environment,
                                      .environment_arguments = settings.agent.environment_arguments,
                                      .levels = levels,
                                      .episodes = episodes,
                                      .seed = seed};
  const auto actor = agents::make_policy(policy, how.environments);
  return agents::evaluate(*actor, how);
}

// Films of the policy on levels that it has seen and has not, for the run's report.
void film_both(const agents::SavedPolicy& policy, const Settings& settings,
               const agents::Levels& unseen, const RunFolder& folder, uint64_t seed) {
  for (const bool seen : {true, false}) {
    const agents::EvaluationOptions how{
        .environment = settings.agent.environment,
        .environment_arguments = settings.agent.environment_arguments,
        .levels = seen ? settings.agent.levels : unseen,
        .episodes = kFilmed,
        .seed = seed};
    const report::Film made =
        report::film(*agents::make_policy(policy, 1), how, kPicturesASecond, kMostPictures);
    write_atomically(folder.path() / (seen ? "training-levels.png" : "unseen-levels.png"),
                     report::encode_apng(made.frames));
  }
}

// Seconds by what they went into, all that is not told apart as "rest".
std::vector<std::pair<std::string, double>> profile_of(const agents::AgentLearner& learner,
                                                       const std::string& algorithm,
                                                       double seconds) {
  const auto found = learner.profile();
  if (!found) throw user_error("--profile: {} does not tell where its time goes", algorithm);
  std::vector<std::pair<std::string, double>> all{{"environment", found->environment},
                                                  {"upload", found->upload},
                                                  {"inference", found->inference},
                                                  {"learning", found->learning},
                                                  {"waiting", found->waiting}};
  for (const auto& [name, part] : all) seconds -= part;
  all.emplace_back("rest", seconds + found->overlapped);
  all.emplace_back("overlapped", found->overlapped);
  return all;
}

// Training levels are those that were learned on; all others are unseen.
agents::Levels unseen(const Settings& settings) {
  return agents::Levels::range(settings.levels, agents::Levels::kAll - settings.levels);
}

void run(Settings settings, const Common& common) {
  if (!settings.seeds.empty()) {
    return train_seeds(kSeeds, settings.seeds, settings.run, settings.out, common);
  }
  const agents::Algorithm& algorithm = agents::algorithm_named(settings.algorithm);
  settings.agent.environment = agents::environment_name(settings.world->name);
  settings.agent.environment_arguments = settings.world->arguments();
  settings.agent.arguments = settings.told->given_to(algorithm.name);
  settings.agent.levels = agents::Levels::range(0, settings.levels);
  settings.agent.seed = common.seed;
  const auto learner = algorithm.make(settings.agent);
  if (settings.profile) profile_of(*learner, algorithm.name, 0);
  std::optional<RunFolder> folder;
  std::string file = settings.out;
  if (!settings.run.empty()) {
    folder.emplace(RunFolder::open_or_create(settings.run, common.settings));
    folder->keep_last(1);
    if (file.empty()) file = (folder->path() / "policy.safetensors").string();
  }
  std::optional<report::RunMetrics> metrics;
  if (folder) metrics.emplace(*folder);
  const auto began = Clock::now();
  int64_t first = 0;  // steps that were made before
  const auto look = [&](int64_t) -> Json {
    const agents::SavedPolicy now = learner->policy();
    const uint64_t seed = common.seed + 1;
    const auto seen = [&](const agents::Levels& levels) {
      return evaluation_json(evaluate(now, settings, levels, settings.episodes, seed));
    };
    return {{"steps", learner->environment_steps()},
            {"train", seen(settings.agent.levels)},
            {"test", seen(unseen(settings))}};
  };
  LearningLoop loop{.kept = folder ? &*folder : nullptr,
                    .metrics = metrics ? &*metrics : nullptr,
                    .log_every = std::max<int64_t>(1, learner->total() / kReports),
                    .title = "train",
                    .unit = "iterations",
                    .note =
                        [](const NamedNumbers& numbers) {  // steps, return, length
                          return fmt::format("return {:.3f}  length {:.0f}", numbers[1].second,
                                             numbers[2].second);
                        },
                    .begins = [&] { first = learner->environment_steps(); },
                    .looks = settings.looks};
  if (settings.looks > 0) loop.look = look;
  Json curve = learn(*learner, loop);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const agents::SavedPolicy policy = learner->policy();
  agents::save_policy(file, policy);
  if (!folder) note_saved(fmt::format("wrote {}", file));
  const int64_t steps = learner->environment_steps();
  tell("{} steps in {}; wrote {}\n", steps, duration_text(seconds), file);
  const auto train =
      evaluate(policy, settings, settings.agent.levels, settings.episodes, common.seed);
  const auto test = evaluate(policy, settings, unseen(settings), settings.episodes, common.seed);
  Json result{{"env", settings.agent.environment},
              {"algorithm", algorithm.name},
              {"levels", settings.levels},
              {"steps", steps},
              {"train", evaluation_json(train)},
              {"test", evaluation_json(test)},
              {"gap", train.mean - test.mean},
              {"curve", std::move(curve)},
              {"steps_per_second", static_cast<double>(steps - first) / std::max(seconds, 1e-9)},
              {"seconds", seconds},
              {"file", file}};
  if (settings.profile) {
    for (const auto& [name, part] : profile_of(*learner, algorithm.name, seconds)) {
      result["profile"][name] = part;
      tell("{:<12} {:8.2f} s\n", name, part);
    }
  }
  if (folder) film_both(policy, settings, unseen(settings), *folder, common.seed);
  if (folder && !folder->finished()) folder->finish(result);
  if (common.json) return print_json(result);
  fmt::print("{} in {} after {} steps on {} levels\n", algorithm.name, settings.agent.environment,
             steps, settings.levels);
  fmt::print("{}{}", evaluation_line("training levels", train), evaluation_line("unseen", test));
  fmt::print("  {:<16} {:.3f}\n", "gap", train.mean - test.mean);
}

}  // namespace

Verb entry_agent_train() {
  return {
      .name = "agent train",
      .summary = "Learn a policy on a few levels and say what it earns on unseen ones",
      .example =
          "agora agent train ppo --env maze --levels 20 --steps 20000 --episodes 20 "
          "--run runs/maze",
      .takes_device = true,
      .outputs = {"out"},
      .declare = [](OptionList& app) {
        auto settings = std::make_shared<Settings>();
        std::vector<std::string> names = names_in(agents::algorithms());
        app.add("algorithm", settings->algorithm, fmt::format("One of {}", fmt::join(names, ", ")))
            .required()
            .check(one_of(names));
        settings->world = declare_world(app, "maze");
        app.add("--levels", settings->levels, "Levels to learn on, from 0 on")
            .check(between(1, 10'000'000))
            .shows_default();
        app.add("--steps", settings->agent.steps, "Steps of all environments together")
            .check(between(1, int64_t{1} << 40))
            .shows_default();
        app.add("--environments", settings->agent.environments,
                "Environments side by side, shared by the members of an ensemble")
            .check(between(1, 100'000))
            .shows_default();
        app.add("--network", settings->agent.network.kind, "mlp, conv, impala or auto")
            .check(one_of(agents::network_kinds()))
            .shows_default();
        app.add("--width", settings->agent.network.width, "Width of a hidden layer")
            .check(between(1, 100'000))
            .shows_default();
        app.add("--layers", settings->agent.network.layers, "Hidden layers of an mlp")
            .check(between(1, 100))
            .shows_default();
        app.add("--channels", settings->agent.network.channels, "First channels of a conv")
            .check(between(1, 10'000))
            .shows_default();
        app.add("--episodes", settings->episodes, "Episodes of every evaluation")
            .check(between(1, 10'000'000))
            .shows_default();
        app.add("--looks", settings->looks, "Evaluations on the way, for the curves")
            .check(between(0, 10'000))
            .shows_default();
        app.flag("--profile", settings->profile,
                 "Say where the time went; of ppo, leep and their like");
        app.add("--seeds", settings->seeds,
                "Train with several seeds, such as 1-5 or 1,3,7, side by side");
        app.add("--run", settings->run, "Keep everything in this folder; goes on there");
        app.add("--out", settings->out, "Write the policy to this file");
        settings->told = std::make_shared<KindOptions>(app, kinds_of(agents::algorithms()));
        return [settings, &app](const Common& common) {
          seeds_told(app, settings->seeds);
          if (settings->run.empty() && settings->out.empty()) {
            throw user_error("expected --run FOLDER or --out FILE: where should the policy go?");
          }
          run(*settings, common);
        };
      }};
}

}  // namespace agora::cli::kind_agent_train

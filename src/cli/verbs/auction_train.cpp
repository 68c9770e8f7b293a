#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/mechanism_learner.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "cli/auction_market.h"
#include "cli/auction_seeds.h"
#include "cli/verb.h"
#include "report/run_metrics.h"

namespace agora::cli {
namespace {

using auctions::Recipe;
using Clock = std::chrono::steady_clock;

constexpr int64_t kReports = 200;  // rows of metrics.csv
constexpr int64_t kFewProfiles = 1000;

// An option that changes one number of the recipe when it is given.
template <typename Number>
struct Change {
  const char* option;
  Number Recipe::*member;
  const char* help;
};
const std::vector<Change<int>> kWholeNumbers{
    {"--hidden", &Recipe::hidden, "Hidden layers"},
    {"--width", &Recipe::width, "Width of a hidden layer, or channels"},
    {"--misreport-steps", &Recipe::misreport_steps, "Steps of the search for lies per iteration"},
    {"--candidates", &Recipe::candidates, "Other bids where that search may start"},
    {"--refinements", &Recipe::refinements, "algnet: ascent steps after the misreporter's guess"}};
const std::vector<Change<int64_t>> kCounts{
    {"--iterations", &Recipe::iterations, "Updates of the mechanism"},
    {"--batch", &Recipe::batch, "Profiles per update"},
    {"--samples", &Recipe::samples,
     "Train on this many fixed profiles, with remembered misreports; 0: fresh ones, online"},
    {"--penalty-every", &Recipe::penalty_every, "Iterations between two rises of the penalty"},
    {"--multiplier-every", &Recipe::multiplier_every, "Iterations between multiplier updates"},
    {"--restart-every", &Recipe::restart_every, "algnet: draw the misreporter anew; 0: never"},
    {"--restart-until", &Recipe::restart_until, "algnet: only before this iteration"}};
const std::vector<Change<double>> kReals{
    {"--rate", &Recipe::rate, "Learning rate at the start"},
    {"--final-rate", &Recipe::final_rate, "Learning rate at the end"},
    {"--weight-decay", &Recipe::weight_decay, "AdamW's decay"},
    {"--averaging", &Recipe::averaging, "Decay of the running average of the weights; 0: none"},
    {"--misreport-rate", &Recipe::misreport_rate, "First step of the search for lies"},
    {"--misreport-final-rate", &Recipe::misreport_final_rate, "Its last step"},
    {"--misreporter-rate", &Recipe::misreporter_rate, "algnet: the misreporter's learning rate"},
    {"--regret-floor", &Recipe::regret_floor, "algnet: added to the regret under the loss's root"},
    {"--multiplier", &Recipe::multiplier, "Lagrange multipliers at the start"},
    {"--penalty", &Recipe::penalty, "Quadratic penalty at the start"},
    {"--penalty-step", &Recipe::penalty_step, "What the penalty rises by"}};

struct Settings {
  std::string mechanism, recipe = "best", seeds, run, out;
  auctions::AuditOptions audit{.regret_profiles = 1000};
  std::vector<std::function<void(Recipe&)>> changes;
};

template <typename Number>
void declare_changes(CLI::App& app, Settings& settings,
                     const std::vector<Change<Number>>& changes) {
  for (const Change<Number>& change : changes) {
    auto value = std::make_shared<Number>();
    CLI::Option* option = app.add_option(change.option, *value, change.help);
    settings.changes.emplace_back([=](Recipe& recipe) {
      if (option->count() > 0) recipe.*change.member = *value;
    });
  }
}

void check(const Recipe& recipe) {
  const auto positive = [](const char* option, double value) {
    if (!(value > 0)) throw user_error("{}: expected a positive number, found {}", option, value);
  };
  const auto none_negative = [&](const auto& changes) {
    for (const auto& change : changes) {
      const double value = static_cast<double>(recipe.*change.member);
      if (value >= 0 && std::isfinite(value)) continue;
      throw user_error("{}: expected a number of at least 0, found {}", change.option, value);
    }
  };
  none_negative(kWholeNumbers);
  none_negative(kCounts);
  none_negative(kReals);
  positive("--regret-floor", recipe.regret_floor);
  positive("--iterations", static_cast<double>(recipe.iterations));
  positive("--batch", static_cast<double>(recipe.batch));
  positive("--hidden", recipe.hidden);
  positive("--width", recipe.width);
  positive("--misreport-steps", recipe.misreport_steps);
  positive("--misreport-rate", recipe.misreport_rate);
  positive("--misreport-final-rate", recipe.misreport_final_rate);
  positive("--penalty-every", static_cast<double>(recipe.penalty_every));
  positive("--multiplier-every", static_cast<double>(recipe.multiplier_every));
  if (recipe.averaging >= 1) {
    throw user_error("--averaging: expected a number below 1, found {}", recipe.averaging);
  }
}

void train(auctions::MechanismLearner& learner, RunFolder* folder) {
  std::optional<report::RunMetrics> metrics;
  if (folder != nullptr) metrics.emplace(*folder);
  const auto note = [](const NamedNumbers& numbers) {  // revenue, regret, P*
    return fmt::format("revenue {:.4f}  regret {:.5f}  P* {:.4f}", numbers[0].second,
                       numbers[1].second, numbers[2].second);
  };
  learn(learner, {.kept = folder,
                  .metrics = metrics ? &*metrics : nullptr,
                  .log_every = std::max<int64_t>(1, learner.total() / kReports),
                  .title = "train",
                  .unit = "iterations",
                  .note = note});
}

void run(const std::shared_ptr<Market>& market, const Settings& settings, const Common& common) {
  const auctions::Setting setting = market->read();
  Recipe recipe = auctions::recipe(settings.mechanism, setting, settings.recipe);
  for (const auto& change : settings.changes) change(recipe);
  check(recipe);
  if (!settings.out.empty()) auctions::check_file_name(settings.out);
  if (const auto& table = laws_of(setting).table;
      table && table->design_profiles() < kFewProfiles) {
    tell("agora: warning: only {} profiles to learn from\n", table->design_profiles());
  }
  if (!settings.seeds.empty()) {
    return train_seeds(settings.seeds, settings.run, settings.out, common);
  }
  auctions::MechanismLearner learner(settings.mechanism, setting, recipe, common.seed);
  std::optional<RunFolder> folder;
  std::string file = settings.out;
  if (!settings.run.empty()) {
    folder.emplace(RunFolder::open_or_create(settings.run, common.settings));
    folder->keep_last(1);
    if (file.empty()) file = (folder->path() / "mechanism.safetensors").string();
  }
  const auto began = Clock::now();
  train(learner, folder ? &*folder : nullptr);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const auto mechanism = learner.trainer().mechanism();
  auctions::save(*mechanism, file);
  if (!folder) note_saved(fmt::format("wrote {}", file));
  tell("{} iterations in {}; wrote {}\n", recipe.iterations, duration_text(seconds), file);
  auctions::AuditOptions how = settings.audit;
  how.seed = common.seed;
  const auctions::Audit audit = auctions::audit(*mechanism, setting, how);
  Json result = audit_json(*mechanism, setting, audit);
  result["run"] = settings.run.empty() ? Json(nullptr) : Json(settings.run);
  result["file"] = file;
  result["iterations"] = recipe.iterations;
  result["training_seconds"] = seconds;
  if (folder && !folder->finished()) folder->finish(result);
  common.json ? print_json(result) : print_audit(common, *mechanism, setting, audit);
}

}  // namespace

Verb entry_auction_train() {
  return {
      .name = "auction train",
      .summary = "Learn a mechanism: regretnet, equivariantnet or algnet",
      .example =
          "agora auction train regretnet --setting 1x2 --iterations 200 --regret-profiles 20 "
          "--run runs/regretnet-1x2",
      .takes_device = true,
      .outputs = {"out"},
      .declare = [](CLI::App& app) {
        auto settings = std::make_shared<Settings>();
        auto market = declare_market(app);
        std::vector<std::string> names;
        for (const auctions::MechanismKind& kind : auctions::mechanisms()) {
          if (kind.network) names.push_back(kind.name);
        }
        app.add_option("mechanism", settings->mechanism,
                       fmt::format("One of {}", fmt::join(names, ", ")))
            ->required();
        app.add_option("--recipe", settings->recipe,
                       "best: what works best here; thesis: as published")
            ->capture_default_str();
        const CLI::Option* seeds =
            app.add_option("--seeds", settings->seeds,
                           "Train with several seeds, such as 1-5 or 1,3,7, side by side");
        app.add_option("--run", settings->run, "Keep everything in this folder; goes on there");
        app.add_option("--out", settings->out, "Write the mechanism to this file");
        declare_profiles(app, settings->audit, 0);
        declare_changes(app, *settings, kCounts);
        declare_changes(app, *settings, kWholeNumbers);
        declare_changes(app, *settings, kReals);
        return [=, &app](const Common& common) {
          if (seeds->count() > 0 && app.get_option("--seed")->count() > 0) {
            throw user_error("--seed and --seeds exclude each other");
          }
          if (seeds->count() > 0) seeds_named(settings->seeds);
          if (settings->run.empty() && settings->out.empty()) {
            throw user_error("expected --run FOLDER or --out FILE: where should the mechanism go?");
          }
          run(market, *settings, common);
        };
      }};
}

}  // namespace agora::cli

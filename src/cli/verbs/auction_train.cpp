#include <fmt/format.h>

#include <chrono>

#include "auctions/design.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/mechanism_learner.h"
#include "auctions/training/recipes.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/run_folder.h"
#include "base/signals.h"
#include "cli/auction_market.h"
#include "cli/kind_options.h"
#include "cli/train_seeds.h"
#include "cli/verb.h"
#include "report/run_metrics.h"

namespace agora::cli::kind_auction_train {
namespace {

using auctions::Recipe;
using Clock = std::chrono::steady_clock;

constexpr int64_t kReports = 200;  // rows of metrics.csv
constexpr int64_t kFewProfiles = 1000;

const SeedsOf kSeeds{.verb = {"auction", "train"},
                     .heading = {"mechanism", "setting"},
                     .quantities = {{"revenue", "revenue", JsonPath("/revenue/mean")},
                                    {"regret", "regret, strong", JsonPath("/regret/strong/mean")},
                                    {"p_star", "P*", JsonPath("/p_star/strong")}}};

struct Settings {
  std::string mechanism, recipe = "best", seeds, run, out;
  auctions::AuditOptions audit{.regret_profiles = 1000};
  std::shared_ptr<KindOptions> changes;  // of the recipe
};

std::vector<KindOptions::Kind> trained() {
  std::vector<KindOptions::Kind> kinds;
  for (const auctions::MechanismKind& kind : auctions::mechanisms()) {
    if (kind.network) kinds.push_back({kind.name, declared(training_of(kind).parameters)});
  }
  return kinds;
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
  const Arguments changes = settings.changes->given_to(settings.mechanism);
  const auctions::Setting setting = market->read();
  const auctions::MechanismKind& kind = auctions::mechanism_kind(settings.mechanism);
  Recipe recipe = auctions::recipe(kind.name, setting, settings.recipe);
  tell_options(recipe, kind.name, training_of(kind).parameters, changes);
  if (!changes.contains("regret-weight")) recipe = auctions::without_detours(recipe);
  if (!settings.out.empty()) auctions::check_file_name(settings.out);
  if (const auto& table = laws_of(setting).table;
      table && table->design_profiles() < kFewProfiles) {
    tell("agora: warning: only {} profiles to learn from\n", table->design_profiles());
  }
  if (!settings.seeds.empty()) {
    return train_seeds(kSeeds, settings.seeds, settings.run, settings.out, common);
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
  const std::optional<auctions::Contender> baseline =
      auctions::best_baseline(setting, audit.truth.profiles, common.seed);
  Json result = audit_json(*mechanism, setting, audit);
  result["run"] = settings.run.empty() ? Json(nullptr) : Json(settings.run);
  result["file"] = file;
  result["iterations"] = recipe.iterations;
  result["baseline"] = nullptr;
  if (baseline) {
    result["baseline"] = {
        {"mechanism", baseline->mechanism},
        {"revenue", {{"mean", baseline->revenue}, {"se", baseline->revenue_error}}}};
  }
  result["training_seconds"] = seconds;
  if (folder && !folder->finished()) folder->finish(result);
  if (common.json) return print_json(result);
  print_audit(common, *mechanism, setting, audit);
  if (!baseline) return;
  fmt::print("  {:<18} {:.6g} by {}, which is truthful\n", "baseline", baseline->revenue,
             baseline->mechanism);
}

}  // namespace

Verb entry_auction_train() {
  return {
      .name = "auction train",
      .summary = fmt::format("Learn a mechanism: {}", fmt::join(names_in(trained()), ", ")),
      .example =
          "agora auction train regretnet --setting 1x2 --iterations 200 --regret-profiles 20 "
          "--run runs/regretnet-1x2",
      .takes_device = true,
      .outputs = {"out"},
      .declare = [](OptionList& app) {
        auto settings = std::make_shared<Settings>();
        auto market = declare_market(app);
        const std::vector<std::string> names = names_in(trained());
        app.add("mechanism", settings->mechanism, fmt::format("One of {}", fmt::join(names, ", ")))
            .required()
            .check({[](const std::string& text) {
              training_of(auctions::mechanism_kind(text));  // told before what is missing
              return std::string();
            }})
            .offers(names, false);
        app.add("--recipe", settings->recipe, "best: what works best here; thesis: as published")
            .offers(auctions::recipe_kinds(), false)
            .shows_default();
        app.add("--seeds", settings->seeds,
                "Train with several seeds, such as 1-5 or 1,3,7, side by side");
        app.add("--run", settings->run, "Keep everything in this folder; goes on there");
        app.add("--out", settings->out, "Write the mechanism to this file");
        declare_profiles(app, settings->audit, 0);
        settings->changes = std::make_shared<KindOptions>(app, trained());
        return [=, &app](const Common& common) {
          seeds_told(app, settings->seeds);
          if (settings->run.empty() && settings->out.empty()) {
            throw user_error("expected --run FOLDER or --out FILE: where should the mechanism go?");
          }
          run(market, *settings, common);
        };
      }};
}

}  // namespace agora::cli::kind_auction_train

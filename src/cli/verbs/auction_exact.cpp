#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "auctions/design.h"
#include "auctions/mechanism.h"
#include "base/progress.h"
#include "base/signals.h"
#include "cli/auction_market.h"
#include "cli/auction_report.h"

namespace agora::cli::kind_auction_exact {
namespace {

struct Options {
  std::string out;
  auctions::AuditOptions audit{
      .profiles = 1'000'000, .regret_profiles = 100, .symmetry_profiles = 0};
};

}  // namespace

Verb entry_auction_exact() {
  return {.name = "auction exact",
          .summary = "Compute a classical mechanism for a setting and say what it earns",
          .example = "agora auction exact itemwise-myerson --setting 2x2 --profiles 100000",
          .declare = [](OptionList& app) {
            auto options = std::make_shared<Options>();
            auto market = declare_market(app);
            auto chosen = declare_computed(app);
            declare_profiles(app, options->audit, 0);
            app.add("--out", options->out, "Save it: .safetensors or .json");
            auto pictures = declare_pictures(app);
            return [=, &app](const Common& common) {
              const auto start = std::chrono::steady_clock::now();
              std::optional<Activity> activity("exact " + chosen->argument);
              const auto mechanism = chosen->compute(*market, common.seed);
              const auctions::Setting setting = market->read();
              if (!options->out.empty()) {
                auctions::save(*mechanism, options->out);
                note_saved(fmt::format("wrote {}", options->out));
              }
              auctions::AuditOptions measured = audit_options(app, options->audit, setting, common);
              const auctions::MechanismKind& kind = auctions::mechanism_kind(chosen->argument);
              const bool untested =
                  !app.given("--regret-profiles") && kind.truthful && kind.average_flag.empty();
              if (untested) measured.regret_profiles = 0;
              const auto crossed = auctions::cross_validate(
                  chosen->argument, setting,
                  {.seed = common.seed, .arguments = chosen->options->given_to(chosen->argument)});
              note_activity("audit");
              auctions::Audit audit = auctions::audit(*mechanism, setting, measured);
              activity.reset();
              audit.seconds =
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
              pictures->write(common, *mechanism, setting, audit);
              if (common.json) {
                Json json = audit_json(*mechanism, setting, audit);
                if (crossed) {
                  json["cross_validation"] = {
                      {"folds", crossed->folds},
                      {"profiles", crossed->profiles},
                      {"revenue", {{"mean", crossed->revenue}, {"se", crossed->revenue_error}}}};
                }
                return print_json(json);
              }
              print_audit(common, *mechanism, setting, audit,
                          untested ? "0 by construction; --regret-profiles N looks for lies" : "");
              if (crossed) {
                fmt::print("  {:<18} {:.6g} (standard error {:.2g}), {} folds of all {} profiles\n",
                           "cross-validated", crossed->revenue, crossed->revenue_error,
                           crossed->folds, crossed->profiles);
              }
              for (const auto& [key, value] : mechanism->parameters().notes) {
                fmt::print("  {:<18} {}\n", key, value);
              }
              if (!options->out.empty()) fmt::print("saved {}\n", options->out);
            };
          }};
}

}  // namespace agora::cli::kind_auction_exact

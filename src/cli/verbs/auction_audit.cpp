#include <fmt/format.h>

#include "base/json.h"
#include "cli/auction_market.h"
#include "cli/auction_report.h"

namespace agora::cli::kind_auction_audit {
namespace {

Json regret_details(const std::optional<auctions::RegretTest>& test) {
  if (!test) return nullptr;
  return {{"mean", test->mean},
          {"p99", test->p99},
          {"max", test->max},
          {"per_bidder", test->per_bidder},
          {"worst",
           {{"profile", test->worst_profile},
            {"bidder", test->worst_bidder + 1},
            {"values", test->worst_values},
            {"bid", test->worst_bid}}}};
}

// All that an audit found, beyond the fixed form of --json.
Json details(const auctions::Audit& audit, const std::string& thesis_step) {
  Json json{{"thesis", regret_details(audit.thesis)},
            {"thesis_step", thesis_step},
            {"strong", regret_details(audit.strong)},
            {"utility", audit.truth.utility},
            {"payment", audit.truth.payment},
            {"symmetry", nullptr},
            {"grid", nullptr}};
  if (audit.symmetry) {
    const auctions::SymmetryTest& test = *audit.symmetry;
    json["symmetry"] = {
        {"permutations", test.permutations},
        {"all", test.all_permutations},
        {"h_r",
         {{"mean", test.range_mean}, {"max", test.range_max}, {"profiles", test.revenue_range}}},
        {"exploitability_percent", test.exploitability},
        {"exploitability_exact", test.exact_exploitability},
        {"seat", {{"mean", test.treatment_mean}, {"max", test.treatment_max}}}};
  }
  if (audit.grid) {
    json["grid"] = {{"points", audit.grid->points},
                    {"spacing", audit.grid->spacing},
                    {"largest_gain", audit.grid->largest_gain},
                    {"upper", nullptr},
                    {"argument", audit.grid->argument}};
    if (audit.grid->upper) json["grid"]["upper"] = *audit.grid->upper;
  }
  return json;
}

}  // namespace

Verb entry_auction_audit() {
  return {.name = "auction audit",
          .summary = "Search a mechanism for lies that pay, losses and unfairness",
          .example = "agora auction audit second-price --setting 2x2 --regret-profiles 100",
          .takes_device = true,
          .declare = [](OptionList& app) {
            auto measuring = std::make_shared<Measuring>(app, auctions::AuditOptions{}, 1);
            auctions::AuditOptions* options = &measuring->options;
            auto file = std::make_shared<std::string>();
            app.add("--symmetry-profiles", options->symmetry_profiles,
                    "Profiles whose bidders and items are permuted; 0: none")
                .check(between(int64_t{0}, int64_t{1} << 30))
                .shows_default();
            app.add("--starts", options->starts, "The thesis's test: starts per profile")
                .check(between(1, 100'000))
                .shows_default();
            app.add("--steps", options->steps, "The thesis's test: steps per start")
                .check(between(1, 1'000'000))
                .shows_default();
            auto step = std::make_shared<std::string>("domain");
            app.add("--thesis-step", *step,
                    "The thesis's test: steps of .001 of the domain, or of .001 as printed")
                .check(one_of({"domain", "printed"}))
                .shows_default();
            app.add("--details", *file, "Write all that was found to this JSON file");
            return [=, &app](const Common& common) {
              measuring->options.printed_step = *step == "printed";
              measuring->run(app, common, [&](const auctions::Audit& audit) {
                if (!file->empty()) write_json(*file, details(audit, *step));
              });
            };
          }};
}

}  // namespace agora::cli::kind_auction_audit

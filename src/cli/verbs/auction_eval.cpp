#include "cli/auction_market.h"
#include "cli/auction_report.h"

namespace agora::cli {

Verb entry_auction_eval() {
  return {.name = "auction eval",
          .summary = "Revenue and welfare of a mechanism, with regret where asked",
          .example = "agora auction eval vcg --setting \"3x2 exponential(1)\" --json",
          .takes_device = true,
          .declare = [](CLI::App& app) {
            auto options = std::make_shared<auctions::AuditOptions>();
            auto argument = std::make_shared<std::string>();
            auto market = declare_market(app);
            auto exact = declare_exact(app);
            options->regret_profiles = 0;
            options->symmetry_profiles = 0;
            app.add_option("mechanism", *argument, "A mechanism file, or a name of `auction list`")
                ->required();
            declare_profiles(app, *options, 0);
            auto pictures = declare_pictures(app);
            return [=, &app](const Common& common) {
              const auto mechanism = find_mechanism(*argument, *market, *exact, common.seed);
              const auctions::Setting setting = market_for(*mechanism, *market);
              const auctions::Audit audit = auctions::audit(
                  *mechanism, setting, audit_options(app, *options, setting, common));
              pictures->write(common, *mechanism, setting, audit);
              print_audit(common, *mechanism, setting, audit);
            };
          }};
}

}  // namespace agora::cli

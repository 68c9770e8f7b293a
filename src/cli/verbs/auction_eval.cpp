#include "cli/auction_report.h"

namespace agora::cli::kind_auction_eval {

Verb entry_auction_eval() {
  return {.name = "auction eval",
          .summary = "Revenue and welfare of a mechanism, with regret where asked",
          .example = "agora auction eval vcg --setting \"3x2 exponential(1)\" --json",
          .takes_device = true,
          .declare = [](OptionList& app) {
            auctions::AuditOptions presets;
            presets.regret_profiles = presets.symmetry_profiles = 0;
            auto measuring = std::make_shared<Measuring>(app, presets, 0);
            return [=, &app](const Common& common) { measuring->run(app, common); };
          }};
}

}  // namespace agora::cli::kind_auction_eval

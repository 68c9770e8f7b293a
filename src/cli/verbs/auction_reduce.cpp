#include <fmt/format.h>

#include "auctions/reduction.h"
#include "cli/auction_market.h"

namespace agora::cli::kind_auction_reduce {

Verb entry_auction_reduce() {
  return {.name = "auction reduce",
          .summary = "Turn a one-bidder mechanism into an exactly truthful menu",
          .example = "agora auction reduce bundle --setting 1x2 --out menu.json",
          .takes_device = true,
          .declare = [](OptionList& app) {
            auto options = std::make_shared<auctions::ReductionOptions>();
            auto out = std::make_shared<std::string>();
            auto market = declare_market(app);
            auto chosen = declare_mechanism(app);
            app.add("--choices", options->choices, "Outcomes that go on the menu")
                .check(between(1, 1'000'000))
                .shows_default();
            app.add("--profiles", options->profiles, "Profiles it is measured on")
                .check(between(1, 10'000'000))
                .shows_default();
            app.add("--out", *out, "Save the menu: .safetensors or .json").required();
            return [=](const Common& common) {
              const auto mechanism = chosen->find(*market, common.seed);
              const auctions::Setting setting = market_for(*mechanism, *market);
              auctions::ReductionOptions how = *options;
              how.seed = common.seed;
              const auctions::Reduction found = auctions::reduce_to_menu(*mechanism, setting, how);
              auctions::save(*found.menu, *out);
              if (common.json) {
                return print_json(
                    {{"mechanism", mechanism->name()},
                     {"setting", setting.text()},
                     {"profiles", how.profiles},
                     {"choices", found.choices},
                     {"epsilon", found.epsilon},
                     {"revenue", found.revenue},
                     {"regret", found.regret},
                     {"bound", found.bound},
                     {"discretisation", found.discretisation},
                     {"menu_revenue", {{"mean", found.menu_revenue}, {"se", found.menu_error}}},
                     {"out", *out}});
              }
              fmt::print("{} on {}: revenue {:.6g}, regret {:.3g} on the menu's outcomes\n",
                         mechanism->name(), setting.text(), found.revenue, found.regret);
              fmt::print(
                  "menu of {} choices at {:.4g} of their prices: revenue {:.6g} (standard "
                  "error {:.2g}), regret 0\n",
                  found.choices, 1 - found.epsilon, found.menu_revenue, found.menu_error);
              fmt::print("promised: {:.6g}, less {:.3g} because the menu is finite\nsaved {}\n",
                         found.bound, found.discretisation, *out);
            };
          }};
}

}  // namespace agora::cli::kind_auction_reduce

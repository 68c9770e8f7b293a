#include <fmt/format.h>

#include <chrono>

#include "auctions/run_bids.h"
#include "base/error.h"
#include "cli/auction_market.h"

namespace agora::cli::kind_auction_run {
namespace {

struct Options {
  std::string bids, out;
  int64_t draw_bids = 0;
  bool wide = false;
};

}  // namespace

Verb entry_auction_run() {
  return {
      .name = "auction run",
      .summary = "Run a mechanism on real bids: who gets what and pays how much",
      .example = "agora auction run second-price --setting 3x2 --draw 1000 --out outcome.csv",
      .takes_device = true,
      .declare = [](OptionList& app) {
        auto options = std::make_shared<Options>();
        auto market = declare_market(app);
        auto chosen = declare_mechanism(app);
        const Option& bids =
            app.add("--bids", options->bids, "CSV: b1i1,b1i2,... or profile,bidder,item,value");
        app.add("--draw", options->draw_bids,
                "In place of --bids: so many profiles drawn from --setting")
            .check(between(int64_t{1}, int64_t{1} << 40))
            .excludes(bids);
        app.add("--out", options->out, "CSV to write; payments go to OUT-payments").required();
        app.flag("--wide", options->wide, "One row per profile, payments included");
        return [=, &app](const Common& common) {
          const auto start = std::chrono::steady_clock::now();
          const auto mechanism = chosen->find(*market, common.seed);
          auctions::RunOptions how{.out = options->out,
                                   .wide = options->wide,
                                   .draw = std::nullopt,
                                   .domain = std::nullopt};
          if (app.given("--seed")) how.draw = common.seed;
          if (options->bids.empty() && options->draw_bids == 0) {
            throw user_error("--bids is required: a CSV of bids (or --draw N)");
          }
          const auctions::BidSource source =
              options->bids.empty() ? auctions::bids_from_setting(market_for(*mechanism, *market),
                                                                  common.seed, options->draw_bids)
                                    : auctions::bids_from_file(options->bids, *mechanism);
          how.domain =
              market->given() ? std::optional(market->read()) : declared_setting(*mechanism);
          if (!market->given() && how.domain &&
              (how.domain->bidders() != source.bidders || how.domain->items() != source.items)) {
            how.domain.reset();  // a mechanism of any size, used on another one
          }
          const auctions::RunSummary done = auctions::run_bids(*mechanism, source, how);
          const double seconds =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          if (common.json) {
            Json drawn;
            if (how.draw) drawn = done.drawn_revenue;
            return print_json({{"mechanism", mechanism->name()},
                               {"profiles", done.profiles},
                               {"revenue", done.revenue},
                               {"drawn_revenue", drawn},
                               {"out", done.files},
                               {"seconds", seconds}});
          }
          fmt::print("{} profiles, mean revenue {:.6g}{}: {}\n", done.profiles, done.revenue,
                     how.draw ? fmt::format(" (drawn {:.6g})", done.drawn_revenue) : "",
                     fmt::join(done.files, ", "));
        };
      }};
}

}  // namespace agora::cli::kind_auction_run

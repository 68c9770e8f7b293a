#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "auctions/design.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/signals.h"
#include "cli/auction_market.h"

namespace agora::cli::kind_auction_design {
namespace {

constexpr double kInterval = 1.96;  // standard errors

struct Options {
  auctions::DesignOptions how;
  std::string out;
};

Json result_json(const auctions::Setting& setting, const auctions::DesignResult& result,
                 double seconds) {
  Json kinds = Json::array(), absent = Json::object(), bounds = Json::object();
  for (const auctions::Contender& each : result.kinds) {
    Json regret;
    if (each.regret) regret = *each.regret;
    kinds.push_back({{"mechanism", each.mechanism},
                     {"revenue", {{"mean", each.revenue}, {"se", each.revenue_error}}},
                     {"behind", {{"mean", each.behind}, {"se", each.behind_error}}},
                     {"truthful", each.truthful},
                     {"regret", regret},
                     {"welfare", each.welfare},
                     {"sale_rate", each.sale_rate},
                     {"iterations", each.iterations},
                     {"pays", auctions::mechanism_kind(each.mechanism).pays},
                     {"seconds", each.seconds}});
  }
  for (const auto& [mechanism, why] : result.absent) absent[mechanism] = why;
  for (const auctions::Bound& each : result.bounds) bounds[each.name] = each.revenue;
  return {{"setting", setting.text()},
          {"best", result.kinds[0].mechanism},
          {"kinds", kinds},
          {"upper_bound", result.upper_bound},
          {"bound", result.bound},
          {"bounds", bounds},
          {"profiles", result.profiles},
          {"folds", result.folds},
          {"not_tried", absent},
          {"seconds", seconds}};
}

void print(const auctions::Setting& setting, const auctions::DesignResult& result) {
  fmt::print("{}, judged on {} profiles{}\n", setting.text(), result.profiles,
             result.folds > 1 ? fmt::format(" by {}-fold cross-validation", result.folds) : "");
  fmt::print("  {:<18} {:>10} {:>9}  {:>10} {:>9}  {:>9} {:>9}\n", "mechanism", "revenue",
             "95 % +-", "behind", "95 % +-", "welfare", "sale rate");
  for (const auctions::Contender& each : result.kinds) {
    fmt::print("  {:<18} {:>10.6g} {:>9.2g}  {:>10.4g} {:>9.2g}  {:>9.5g} {:>9.3g}{}\n",
               each.mechanism, each.revenue, kInterval * each.revenue_error, each.behind,
               kInterval * each.behind_error, each.welfare, each.sale_rate,
               each.regret ? fmt::format("  regret {:.2g}", *each.regret) : "");
  }
  const auctions::Contender& best = result.kinds[0];
  const auto pays = [](const auctions::Contender& each) {
    return auctions::mechanism_kind(each.mechanism).pays;
  };
  fmt::print("Best: {}. A winner pays {}.\n", best.mechanism, pays(best));
  fmt::print("No truthful mechanism earns more than {:.6g}, {}", result.upper_bound, result.bound);
  if (result.upper_bound > 0) {
    fmt::print(": this one has {:.1f} % of it", 100 * best.revenue / result.upper_bound);
  }
  fmt::print(".\n");
  if (!best.truthful) {
    for (const auctions::Contender& each : result.kinds) {
      if (!each.truthful) continue;
      fmt::print("Its regret of {:.2g} per bidder buys {:.4g} more than {}, which is truthful.\n",
                 *best.regret, each.behind, each.mechanism);
      break;
    }
  }
  for (size_t k = 1; k < result.kinds.size(); ++k) {
    fmt::print("In {} a winner pays {}.\n", result.kinds[k].mechanism, pays(result.kinds[k]));
  }
  for (const auto& [mechanism, why] : result.absent) fmt::print("not {}: {}\n", mechanism, why);
}

}  // namespace

Verb entry_auction_design() {
  return {
      .name = "auction design",
      .summary = "Find the truthful mechanism that earns most in a market",
      .example = "agora auction design --setting 2x2 --minutes 0.02 --profiles 10000",
      .takes_device = true,
      .outputs = {"out"},
      .declare = [](OptionList& app) {
        auto options = std::make_shared<Options>();
        auto market = declare_market(app);
        app.add("--minutes", options->how.minutes, "Time to design and train in").shows_default();
        app.add("--profiles", options->how.profiles,
                "Profiles to judge on; those held out of a table")
            .check(between(int64_t{2}, int64_t{1} << 40))
            .shows_default();
        app.add("--regret-at-most", options->how.regret_at_most,
                "Let networks take part whose regret per bidder is not above this");
        app.add("--out", options->out, "Save the best one: .safetensors or .json");
        return [=](const Common& common) {
          if (!(options->how.minutes > 0)) {
            throw user_error("--minutes: expected a positive number, found {}",
                             options->how.minutes);
          }
          if (options->how.regret_at_most && !(*options->how.regret_at_most >= 0)) {
            throw user_error("--regret-at-most: expected at least 0, found {}",
                             *options->how.regret_at_most);
          }
          if (!options->out.empty()) auctions::check_file_name(options->out);
          const auctions::Setting setting = market->read();
          warn_of_dependence(setting, market->values);
          const auto start = std::chrono::steady_clock::now();
          auctions::DesignOptions how = options->how;
          how.seed = common.seed;
          std::optional<Activity> activity("design");
          how.note = [](const std::string& what) { note_activity("{}", what); };
          const auctions::DesignResult result = auctions::best_design(setting, how);
          activity.reset();
          const double seconds =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          if (!options->out.empty()) {
            auctions::save(*result.best, options->out);
            note_saved(fmt::format("wrote {}", options->out));
          }
          if (common.json) return print_json(result_json(setting, result, seconds));
          print(setting, result);
          if (!options->out.empty()) fmt::print("saved {}\n", options->out);
        };
      }};
}

}  // namespace agora::cli::kind_auction_design

#include "cli/auction_market.h"

#include <fmt/format.h>

#include <filesystem>

#include "auctions/mechanism.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/progress.h"
#include "cli/numbers.h"

namespace agora::cli {

using auctions::Audit;
using auctions::RegretTest;

std::shared_ptr<Market> declare_market(CLI::App& app) {
  auto market = std::make_shared<Market>();
  app.add_option(
      "--setting", market->setting,
      "Bidders, items and laws of values, \"2x2 uniform(0,1)\", or a name of the thesis");
  app.add_option("--values", market->values, "CSV of past values; a tenth is held out");
  return market;
}

const auctions::Setting& Market::read() {
  if (known_) return *known_;
  if (!setting.empty() && !values.empty()) {
    throw user_error("--setting and --values: expected one of them, found both");
  }
  if (!given()) throw user_error("--setting or --values is required, as in --setting \"2x2\"");
  if (!setting.empty()) return known_.emplace(auctions::setting(setting));
  known_ = auctions::setting_from_values(values);
  const auctions::ValueTable& table = *laws_of(*known_).table;
  if (table.design == table.held_out) {
    tell(
        "agora: warning: {}: {} profiles, fewer than ten: designed and judged on the "
        "same ones\n",
        values, known_->held_out());
  } else if (known_->held_out() < 10) {
    tell("agora: warning: {}: only {} profiles are held out to judge on\n", values,
         known_->held_out());
  }
  return *known_;
}

std::shared_ptr<auctions::ExactOptions> declare_exact(CLI::App& app) {
  auto options = std::make_shared<auctions::ExactOptions>();
  app.add_option("--reserve", options->reserve, "second-price: reserve of every item");
  app.add_option("--points", options->points, "lp: points per item of a continuous law")
      ->check(between(1, 1000))
      ->capture_default_str();
  app.add_flag_callback(
      "--bayesian", [options] { options->dominant = false; },
      "lp: truth pays on average over the others, not whatever they do");
  app.add_option("--design-profiles", options->design_profiles,
                 "ama, vvca, menu: profiles their parameters are fitted to")
      ->check(between(1, 100'000'000))
      ->capture_default_str();
  app.add_option("--menu", options->menu, "menu: CSV of choices with columns i1,i2,...,price");
  return options;
}

void declare_profiles(CLI::App& app, auctions::AuditOptions& options, int64_t least_searched) {
  app.add_option("--profiles", options.profiles, "Profiles to measure revenue and welfare on")
      ->check(between(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--regret-profiles", options.regret_profiles,
                 std::string("Profiles in which both searches look for lies") +
                     (least_searched == 0 ? "; 0: none" : ""))
      ->check(between(least_searched, int64_t{1} << 30))
      ->capture_default_str();
}

auctions::AuditOptions audit_options(const CLI::App& app, const auctions::AuditOptions& options,
                                     const auctions::Setting& setting, const Common& common) {
  auctions::AuditOptions how = auctions::affordable(options, setting);
  const auto given = [&](const char* name) {
    const CLI::Option* option = app.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  };
  if (given("--profiles")) how.profiles = options.profiles;
  if (given("--regret-profiles")) how.regret_profiles = options.regret_profiles;
  if (given("--symmetry-profiles")) how.symmetry_profiles = options.symmetry_profiles;
  how.seed = common.seed;
  return how;
}

std::unique_ptr<auctions::Mechanism> find_mechanism(const std::string& argument, Market& market,
                                                    auctions::ExactOptions options, uint64_t seed) {
  options.seed = seed;
  const bool looks_like_a_file = argument.find_first_of("./") != std::string::npos;
  if (looks_like_a_file || std::filesystem::exists(argument)) return auctions::load(argument);
  return auctions::exact(argument, market.read(), options);
}

std::optional<auctions::Setting> declared_setting(const auctions::Mechanism& mechanism) {
  try {
    return auctions::setting(mechanism.parameters().setting);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

auctions::Setting market_for(const auctions::Mechanism& mechanism, Market& market) {
  if (market.given()) return market.read();
  if (const auto declared = declared_setting(mechanism)) return *declared;
  const std::string& made_for = mechanism.parameters().setting;
  throw user_error("--setting or --values is required: {} {}", mechanism.name(),
                   made_for.empty() ? "does not say what it was made for"
                                    : fmt::format("was made for \"{}\"", made_for));
}

nlohmann::ordered_json audit_json(const auctions::Mechanism& mechanism,
                                  const auctions::Setting& setting, const Audit& audit) {
  nlohmann::ordered_json thesis, strong, star_thesis, star_strong;  // null where not tested
  const int n = setting.bidders();
  if (audit.thesis) {
    thesis = {{"mean", audit.thesis->mean}, {"max", audit.thesis->max}};
    star_thesis = auctions::p_star(audit.truth.revenue, n * audit.thesis->mean);
  }
  if (audit.strong) {
    strong = {{"mean", audit.strong->mean}, {"p99", audit.strong->p99}, {"max", audit.strong->max}};
    star_strong = auctions::p_star(audit.truth.revenue, n * audit.strong->mean);
  }
  return {{"mechanism", mechanism.name()},
          {"setting", setting.text()},
          {"profiles", audit.truth.profiles},
          {"revenue", {{"mean", audit.truth.revenue}, {"se", audit.truth.revenue_error}}},
          {"regret", {{"thesis", thesis}, {"strong", strong}}},
          {"ir_violation", audit.truth.ir_violation},
          {"p_star", {{"thesis", star_thesis}, {"strong", star_strong}}},
          {"welfare", audit.truth.welfare},
          {"sale_rate", audit.truth.sale_rate},
          {"seconds", audit.seconds}};
}

namespace {

void print_regret(const char* name, const RegretTest& test, double revenue, int bidders) {
  fmt::print("  {:<18} mean {:.3g}  99 % {:.3g}  largest {:.3g}  P* {:.6g}\n", name, test.mean,
             test.p99, test.max, auctions::p_star(revenue, bidders * test.mean));
  if (test.max <= 1e-9) return;
  const size_t m = test.worst_bid.size();
  const double* truth = test.worst_values.data() + test.worst_bidder * m;
  fmt::print("  {:<18} profile {}, bidder {}: values ({:.4g}), bid ({:.4g})\n", "  worst found",
             test.worst_profile, test.worst_bidder + 1, fmt::join(truth, truth + m, ", "),
             fmt::join(test.worst_bid, ", "));
  if (bidders > 1)
    fmt::print("  {:<18} {:.3g}\n", "  per bidder", fmt::join(test.per_bidder, "  "));
}

}  // namespace

void print_audit(const Common& common, const auctions::Mechanism& mechanism,
                 const auctions::Setting& setting, const Audit& audit,
                 const std::string& untested) {
  if (common.json) return print_json(audit_json(mechanism, setting, audit));
  fmt::print("{} on {}, {} profiles\n", mechanism.name(), setting.text(), audit.truth.profiles);
  fmt::print("  {:<18} {:.6g} (standard error {:.2g})\n", "revenue", audit.truth.revenue,
             audit.truth.revenue_error);
  if (audit.thesis) {
    print_regret("regret, thesis", *audit.thesis, audit.truth.revenue, setting.bidders());
  }
  if (audit.strong) {
    print_regret("regret, strong", *audit.strong, audit.truth.revenue, setting.bidders());
  }
  if (!untested.empty()) fmt::print("  {:<18} {}\n", "regret", untested);
  if (audit.grid) {
    fmt::print("  {:<18} {:.3g} on {} points per item", "regret, grid", audit.grid->largest_gain,
               audit.grid->points);
    if (audit.grid->upper) {
      fmt::print("; at most {:.3g}, as {}", *audit.grid->upper, audit.grid->argument);
    }
    fmt::print("\n");
  }
  fmt::print("  {:<18} {:.3g}\n", "IR violation", audit.truth.ir_violation);
  fmt::print("  {:<18} {:.6g}\n", "welfare", audit.truth.welfare);
  fmt::print("  {:<18} {:.4g}\n", "sale rate", audit.truth.sale_rate);
  if (setting.bidders() > 1) {
    fmt::print("  {:<18} {:.4g}\n", "utility by bidder", fmt::join(audit.truth.utility, "  "));
    fmt::print("  {:<18} {:.4g}\n", "payment by bidder", fmt::join(audit.truth.payment, "  "));
  }
  if (audit.symmetry) {
    const auctions::SymmetryTest& test = *audit.symmetry;
    fmt::print("  {:<18} mean {:.3g}  largest {:.3g} ({} permutations{})\n", "h_R", test.range_mean,
               test.range_max, test.permutations, test.all_permutations ? ", all" : ", sampled");
    if (setting.bidders() > 1) {
      fmt::print("  {:<18} {:.3g} % of the revenue{}\n", "exploitability", test.exploitability,
                 test.exact_exploitability ? "" : " (searched)");
      fmt::print("  {:<18} mean {:.3g}  largest {:.3g}\n", "seat matters", test.treatment_mean,
                 test.treatment_max);
    }
  }
  fmt::print("  {:<18} {:.2f}\n", "seconds", audit.seconds);
}

}  // namespace agora::cli

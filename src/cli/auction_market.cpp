#include "cli/auction_market.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "auctions/exact/reserve.h"
#include "auctions/limits.h"
#include "auctions/mechanism.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/progress.h"

namespace agora::cli {

using auctions::Audit;
using auctions::RegretTest;

std::shared_ptr<Market> declare_market(OptionList& app) {
  auto market = std::make_shared<Market>();
  std::vector<std::string> names = names_in(auctions::named_settings());
  std::erase_if(names, [](const std::string& name) {  // "III_n", "VI(mean)"
    return name.find_first_of("_(") != std::string::npos;
  });
  app.add("--setting", market->setting,
          "Bidders, items and laws of values, \"2x2 uniform(0,1)\", or a name of the thesis")
      .offers(names, false);
  app.add("--values", market->values, "CSV of past values; a tenth is held out");
  app.add("--demand", market->demand, "unit: bidders want one item at most; additive: all they get")
      .check(one_of({"additive", "unit"}));
  app.add("--budget", market->budget, "The most a bidder can pay: one number, or one per bidder");
  return market;
}

// What is given here goes before what the text of a setting says.
auctions::Setting Market::with_limits(const auctions::Setting& base) const {
  if (demand.empty() && budget.empty()) return base;
  const auctions::Limits& own = base.limits();
  const auctions::Limits told = auctions::limits_from(
      "--budget", demand.empty() ? "additive" : demand, budget, base.bidders());
  return auctions::limited(base, {.demand = demand.empty() ? own.demand : told.demand,
                                  .budgets = budget.empty() ? own.budgets : told.budgets});
}

const auctions::Setting& Market::read() {
  if (known_) return *known_;
  if (!setting.empty() && !values.empty()) {
    throw user_error("--setting and --values: expected one of them, found both");
  }
  if (!given() && !(demand.empty() && budget.empty())) {
    throw user_error("{} limits a market: expected --setting or --values beside it",
                     demand.empty() ? "--budget" : "--demand");
  }
  if (!given()) throw user_error("--setting or --values is required, as in --setting \"2x2\"");
  known_ = with_limits(setting.empty() ? auctions::setting_from_values(values)
                                       : auctions::setting(setting));
  if (!setting.empty()) return *known_;
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

namespace {

bool is_computed(const auctions::MechanismKind& kind) { return static_cast<bool>(kind.design); }

std::vector<auctions::MechanismKind> computed() {
  std::vector<auctions::MechanismKind> kinds;
  std::copy_if(auctions::mechanisms().begin(), auctions::mechanisms().end(),
               std::back_inserter(kinds), is_computed);
  return kinds;
}

bool names_a_file(const std::string& argument) {
  return argument.find_first_of("./") != std::string::npos || std::filesystem::exists(argument);
}

// A name that nobody has is told while options are read, before those that are missing.
Check known_mechanism(bool or_file) {
  return {[=](const std::string& text) -> std::string {
    if (!or_file || !names_a_file(text)) auctions::mechanism_kind(text);
    return "";
  }};
}

std::shared_ptr<Chosen> declare_chosen(OptionList& app, bool or_file, const char* help) {
  auto chosen = std::make_shared<Chosen>();
  app.add("mechanism", chosen->argument, help)
      .required()
      .check(known_mechanism(or_file))
      .offers(names_in(computed()), or_file);
  chosen->options = std::make_shared<KindOptions>(app, kinds_of(computed()));
  return chosen;
}

}  // namespace

std::shared_ptr<Chosen> declare_computed(OptionList& app) {
  return declare_chosen(app, false, "A name of `agora auction list`");
}

std::shared_ptr<Chosen> declare_mechanism(OptionList& app) {
  return declare_chosen(app, true, "A mechanism file, or a name of `auction list`");
}

std::unique_ptr<auctions::Mechanism> Chosen::compute(Market& market, uint64_t seed) const {
  auctions::expect_computed(auctions::mechanism_kind(argument));
  const Arguments arguments = options->given_to(argument);
  auto made = auctions::exact(argument, market.read(), {.seed = seed, .arguments = arguments});
  if (made->parameters().notes.contains("reserves")) {
    warn_of_dependence(market.read(), market.values);
  }
  return made;
}

std::unique_ptr<auctions::Mechanism> Chosen::find(Market& market, uint64_t seed) const {
  if (!names_a_file(argument)) return compute(market, seed);
  options->expect_none(argument, "it is made already");
  return auctions::load(argument);
}

void warn_of_dependence(const auctions::Setting& setting, const std::string& values) {
  const auto& table = laws_of(setting).table;
  if (!table) return;
  const auctions::Dependence seen = bidders_dependence(*table);
  if (!seen.visible()) return;
  tell(
      "agora: warning: {}: bidders' values depend on each other (rank correlation {:.2f}, chance "
      "makes {:.2f}): reserves are fitted to the rows\n",
      values, seen.correlation, seen.chance);
}

void declare_profiles(OptionList& app, auctions::AuditOptions& options, int64_t least_searched) {
  app.add("--profiles", options.profiles, "Profiles to measure revenue and welfare on")
      .check(between(int64_t{1}, int64_t{1} << 40))
      .shows_default();
  app.add("--regret-profiles", options.regret_profiles,
          std::string("Profiles in which both searches look for lies") +
              (least_searched == 0 ? "; 0: none" : ""))
      .check(between(least_searched, int64_t{1} << 30))
      .shows_default();
}

auctions::AuditOptions audit_options(const OptionList& app, const auctions::AuditOptions& options,
                                     const auctions::Setting& setting, const Common& common) {
  auctions::AuditOptions how = auctions::affordable(options, setting);
  if (app.given("--profiles")) how.profiles = options.profiles;
  if (app.given("--regret-profiles")) how.regret_profiles = options.regret_profiles;
  if (app.given("--symmetry-profiles")) how.symmetry_profiles = options.symmetry_profiles;
  how.seed = common.seed;
  return how;
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

Json audit_json(const auctions::Mechanism& mechanism, const auctions::Setting& setting,
                const Audit& audit) {
  Json thesis, strong, star_thesis, star_strong;  // null where not tested
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

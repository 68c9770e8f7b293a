#pragma once
#include <memory>
#include <optional>
#include <string>

#include "auctions/audit/audit.h"
#include "cli/kind_options.h"
#include "cli/verb.h"

namespace agora::cli {

// The options --setting, --values, --demand and --budget of the auction verbs.
class Market {
 public:
  std::string setting, values, demand, budget;
  bool given() const { return !setting.empty() || !values.empty(); }
  // Neither or both of the first two is the user's mistake. A table is read once.
  const auctions::Setting& read();

 private:
  auctions::Setting with_limits(const auctions::Setting& base) const;
  std::optional<auctions::Setting> known_;
};
std::shared_ptr<Market> declare_market(OptionList& app);

// The mechanism of a verb, by name or as a file, and the options of those that are computed. A
// name that nobody has is told before anything that is missing.
struct Chosen {
  std::string argument;
  std::shared_ptr<KindOptions> options;

  // For the setting on the spot, by its name.
  std::unique_ptr<auctions::Mechanism> compute(Market& market, uint64_t seed) const;
  // That, or a mechanism file.
  std::unique_ptr<auctions::Mechanism> find(Market& market, uint64_t seed) const;
};
std::shared_ptr<Chosen> declare_computed(OptionList& app);
std::shared_ptr<Chosen> declare_mechanism(OptionList& app);

// Virtual values are for bidders who do not know of each other: tells of a table of others.
void warn_of_dependence(const auctions::Setting& setting, const std::string& values);

// How many profiles a mechanism is measured on, and in how many of them lies are searched.
void declare_profiles(OptionList& app, auctions::AuditOptions& options, int64_t least_searched);
// The options as given; those not given are as much as the setting affords.
auctions::AuditOptions audit_options(const OptionList& app, const auctions::AuditOptions& options,
                                     const auctions::Setting& setting, const Common& common);

// The setting a mechanism was made for; nothing if that was a table.
std::optional<auctions::Setting> declared_setting(const auctions::Mechanism& mechanism);
// The market as given, or else the setting a mechanism was made for.
auctions::Setting market_for(const auctions::Mechanism& mechanism, Market& market);

// What auction eval, audit, exact and train print: DESIGN's JSON form, or a table. `untested` says
// why nobody looked for lies.
Json audit_json(const auctions::Mechanism& mechanism, const auctions::Setting& setting,
                const auctions::Audit& audit);
void print_audit(const Common& common, const auctions::Mechanism& mechanism,
                 const auctions::Setting& setting, const auctions::Audit& audit,
                 const std::string& untested = "");

}  // namespace agora::cli

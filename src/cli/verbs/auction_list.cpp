#include <fmt/format.h>

#include "auctions/mechanism.h"
#include "cli/kind_options.h"
#include "cli/verb.h"

namespace agora::cli::kind_auction_list {
namespace {

void run(const Common& common) {
  if (common.json) {
    Json mechanisms = Json::array();
    for (const auctions::MechanismKind& kind : auctions::mechanisms()) {
      Json average;  // null: no such option
      if (!kind.average_flag.empty()) average = "--" + kind.average_flag;
      mechanisms.push_back({{"name", kind.name},
                            {"summary", kind.summary},
                            {"computed", static_cast<bool>(kind.design)},
                            {"truthful", kind.truthful},
                            {"only_on_average_with", average},
                            {"parameters", parameters_json(kind.parameters)}});
    }
    Json settings = Json::array();
    for (const auctions::NamedSetting& named : auctions::named_settings()) {
      settings.push_back(
          {{"name", named.name}, {"setting", named.text}, {"summary", named.summary}});
    }
    return print_json({{"mechanisms", mechanisms}, {"settings", settings}});
  }
  fmt::print("Mechanisms\n");
  for (const auctions::MechanismKind& kind : auctions::mechanisms()) {
    fmt::print("  {:<18} {}\n", kind.name, kind.summary);
    print_parameters(kind.parameters, 18);
  }
  fmt::print("\nSettings of the thesis (others: \"NxM LAW\", docs/auctions.md)\n");
  for (const auctions::NamedSetting& named : auctions::named_settings()) {
    fmt::print("  {:<18} {}\n  {:<18}   {}\n", named.name, named.summary, "", named.text);
  }
}

}  // namespace

Verb entry_auction_list() {
  return {.name = "auction list",
          .summary = "The mechanisms and the settings with names",
          .example = "agora auction list",
          .declare = [](OptionList&) { return run; }};
}

}  // namespace agora::cli::kind_auction_list

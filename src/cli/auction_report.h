#pragma once
#include <functional>
#include <memory>
#include <string>

#include "auctions/audit/audit.h"
#include "cli/auction_market.h"
#include "cli/verb.h"

namespace agora::cli {

// The options --report and --pictures of auction audit, eval and exact.
struct AuditPictures {
  std::string page, folder;
  // An audit as a page and as files: its numbers, h_R as a histogram, and for one bidder with two
  // items the allocation and payment over the two bids. Nothing that was not asked for.
  void write(const Common& common, const auctions::Mechanism& mechanism,
             const auctions::Setting& setting, const auctions::Audit& audit) const;
};
std::shared_ptr<AuditPictures> declare_pictures(OptionList& app);

// What auction audit and eval do: measure a mechanism on a market, print and draw what was found.
struct Measuring {
  Measuring(OptionList& app, const auctions::AuditOptions& presets, int64_t least_searched);
  // `kept` gets what was found before it is printed.
  void run(const OptionList& app, const Common& common,
           const std::function<void(const auctions::Audit&)>& kept = {}) const;

  auctions::AuditOptions options;
  std::shared_ptr<Market> market;
  std::shared_ptr<Chosen> chosen;
  std::shared_ptr<AuditPictures> pictures;
};

}  // namespace agora::cli

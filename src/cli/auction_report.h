#pragma once
#include <memory>
#include <string>

#include "auctions/audit/audit.h"
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
std::shared_ptr<AuditPictures> declare_pictures(CLI::App& app);

}  // namespace agora::cli

#pragma once
#include <filesystem>

#include "auctions/audit/audit.h"
#include "cli/verb.h"

namespace agora::cli {

// An audit as a page: its numbers, h_R as a histogram, and for one bidder with two items the
// allocation and payment over the two bids.
void write_audit_page(const std::filesystem::path& file, const Common& common,
                      const auctions::Mechanism& mechanism, const auctions::Setting& setting,
                      const auctions::Audit& audit);

}  // namespace agora::cli

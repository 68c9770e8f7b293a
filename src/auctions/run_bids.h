#pragma once
#include <agora/auctions.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace agora::auctions {

// One profile of bids and where it came from.
struct BidProfile {
  std::vector<std::string> label;  // (labels), as they are in the outcome
  int64_t line = 0;                // where it starts in the file, for messages
  std::vector<double> bids;        // (bidders, items)
};
struct BidSource {
  int bidders, items;
  std::string file;                            // "" if the bids are drawn
  std::function<bool(BidProfile&)> next;       // fills the next profile; false at the end
  std::vector<std::string> labels{"profile"};  // columns that say which profile it is
  std::vector<std::string> bidder_names{}, item_names{};  // empty: they are counted from 1
};

BidSource bids_from_file(const std::string& file, const Mechanism& mechanism);
BidSource bids_from_setting(const Setting& setting, uint64_t seed, int64_t profiles);

struct RunOptions {
  std::string out;                // long form: a second file, -payments, beside it
  bool wide = false;              // one row per profile instead
  std::optional<uint64_t> draw;   // seed of a drawn allocation
  std::optional<Setting> domain;  // bids outside it are the user's mistake
};

struct RunSummary {
  int64_t profiles = 0;
  double revenue = 0;  // mean of the expected payments
  double drawn_revenue = 0;
  std::vector<std::string> files;
};

// Runs a mechanism on any number of profiles in constant memory. Every file appears whole or not at
// all. A drawn allocation gives each item to one bidder by the probabilities; its payment is the
// expected one times realised over expected value, so that who gets nothing pays nothing. Labels
// and names of the bids are those of the outcomes.
RunSummary run_bids(const Mechanism& mechanism, const BidSource& source, const RunOptions& options);

}  // namespace agora::auctions

#pragma once
#include <memory>
#include <vector>

#include "auctions/audit/search.h"

namespace agora::auctions {

// Evenly spaced levels of one or several items, the first item fastest.
struct Grid {
  int points, items;
  size_t size() const;
  // Points with no higher neighbour, of utilities (size).
  std::vector<size_t> peaks(const double* utilities) const;
};

// Where a search starts, and how far, in scales, each seed has to be from better ones to be worth a
// search of its own.
struct Seeds {
  Bids bids;
  std::vector<double> utility, apart;
};

// Seeds of the strong test: peaks of a grid of all items where they are few, and of each item with
// the truth elsewhere; draws of the law, bids of other profiles, and bids that suggest themselves.
class SeedMaker {
 public:
  SeedMaker(const Mechanism& mechanism, const Setting& setting, const AuditOptions& options);
  Seeds seeds(Probe& probe, const BidSpace& space, int64_t first, int bidder) const;

 private:
  // What every bid of a grid buys: the same in all profiles where there is one bidder.
  struct Menu {
    Grid grid;
    std::vector<double> bids, allocation, payments;
  };
  void list_menu(const Mechanism& mechanism, Grid grid);

  const Setting& setting_;
  const AuditOptions& options_;
  std::optional<Menu> menu_;
};

}  // namespace agora::auctions

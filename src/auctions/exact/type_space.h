#pragma once
#include <string>
#include <vector>

#include "auctions/setting.h"

namespace agora::auctions {

// Finitely many types per bidder: a grid of values per item, all combinations. Continuous laws are
// cut into cells of equal probability, each represented by its lower corner.
struct TypeSpace {
  int bidders = 0, items = 0;
  std::vector<std::vector<std::vector<double>>> grids;  // (bidders, items): increasing values
  std::vector<std::vector<double>> probability;         // (bidders, types)

  int types(int bidder) const { return static_cast<int>(probability[bidder].size()); }
  int64_t profiles() const;
  // The value of `item` for a type; the last item counts fastest.
  double value(int bidder, int type, int item) const;
  // The type at or below the bids (items), cell by cell; -1 if some bid lies below the grid.
  int type_of(int bidder, const double* bids) const;
  int type_in(int64_t profile, int bidder) const;                         // bidder's own type
  int64_t with_type(int64_t profile, int bidder, int type) const;         // replaced
  double profile_probability(int64_t profile, int leave_out = -1) const;  // of the others
  int64_t stride(int bidder) const;
};

TypeSpace type_space(const Setting& setting, int points);
// How many profiles it would have; infinity where a double cannot tell.
double type_profiles(const Setting& setting, int points);

}  // namespace agora::auctions

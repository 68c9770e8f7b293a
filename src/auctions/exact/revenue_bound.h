#pragma once
#include <optional>

#include "auctions/mechanism.h"

namespace agora::auctions {

// What no truthful mechanism earns more than, by a linear program: every law is cut into cells, and
// what any mechanism does on average in the cells satisfies the program, so that its optimum is a
// bound for all values and not only for the types. docs/auctions.md has the argument.
struct RevenueBound {
  double revenue = 0;
  int points = 0;  // cells per item
};

// With as many cells as about `profiles` profiles of them allow. Nothing for tables, dependent
// items, values without a mean, and where that is fewer than 3 cells per item.
std::optional<RevenueBound> revenue_bound(const Setting& setting, int64_t profiles);

}  // namespace agora::auctions

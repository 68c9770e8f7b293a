#pragma once
#include <string>
#include <vector>

#include "auctions/mechanism.h"

namespace agora::auctions {

class Comparison;

// What no truthful mechanism earns more than.
struct Bound {
  std::string name, words;
  double revenue = 0;
};

// Those that a comparison measured and, with `programs`, those of linear programs where they can be
// made: seconds.
std::vector<Bound> revenue_bounds(const Setting& setting, const Comparison& comparison,
                                  bool programs);

}  // namespace agora::auctions

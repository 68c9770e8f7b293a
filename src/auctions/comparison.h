#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "auctions/design.h"

namespace agora::auctions {

// What mechanisms earn on the same profiles, and what nobody could earn more than. Adds up over
// several settings, the folds of a table.
class Comparison {
 public:
  explicit Comparison(int mechanisms);
  void measure(const std::vector<const Mechanism*>& mechanisms, const Setting& setting,
               int64_t profiles, uint64_t seed);

  int64_t profiles() const { return profiles_; }
  int best() const;
  void fill(int mechanism, Contender& to) const;  // revenue, behind, welfare, sale rate
  double welfare_bound() const { return most_welfare_ / static_cast<double>(profiles_); }
  // Of truthful mechanisms for independent values; infinite where those are not.
  double dual_bound() const {
    return std::min(dual_[0], dual_[1]) / static_cast<double>(profiles_);
  }

 private:
  struct Sums;
  int count_, items_ = 1;
  int64_t profiles_ = 0;
  std::vector<double> revenue_, products_, welfare_, sold_;  // (mechanisms), products: squared
  double most_welfare_ = 0, dual_[2] = {0, 0};
};

}  // namespace agora::auctions

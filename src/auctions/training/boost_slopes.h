#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "auctions/exact/bundle_sizes.h"

// How the boosts of a SizeMaximiser are learned: revenue has a slope in all of them at once.
namespace agora::auctions {

// What is learned, in units of money.
struct LearnedBoosts {
  std::vector<double> boosts;   // (numbers that ways k share)
  std::vector<double> terms;    // (n or 1, m), what is above 0 stands for 0; empty: none
  std::vector<double> weights;  // (n) logarithms; empty: all alike
};

// The same as a mechanism has it.
struct HardBoosts {
  std::vector<double> boosts;   // (count)
  std::vector<double> terms;    // (n, m)
  std::vector<double> weights;  // (n)
  std::vector<int64_t> from;    // (count): which boost each k has
};

// Who is alike, and what is shared therefore.
struct BoostShape {
  explicit BoostShape(const Setting& setting) : BoostShape(setting, setting.bidders()) {}
  BoostShape(const Setting& setting, int bidders);  // so many of them, who are alike

  int n, m;
  bool same_bidders, same_items;
  double unit;  // of money
  BundleSizes sizes;
  SharedBoosts shared;

  bool plain() const { return same_bidders && same_items; }  // boosts alone
  int64_t term(int i, int j) const { return (same_bidders ? 0 : i * m) + j; }

  LearnedBoosts start(const Setting& setting) const;  // item by item at its reserve
  HardBoosts hardened(const LearnedBoosts& learned) const;
  Parameters parameters(const std::string& mechanism, const Setting& setting,
                        const LearnedBoosts& learned) const;
};

// Revenue and its slopes, added up over profiles, in units of money.
struct BoostSlopes {
  explicit BoostSlopes(const BoostShape& shape);
  void add(const BoostSlopes& other);

  double revenue = 0;
  std::vector<double> boosts, terms, weights;  // as in LearnedBoosts
};

// Of values (profiles, n, m), on the program's threads: of what the first `payers` bidders pay.
// Which k is chosen is smoothed by a temperature in units of money; which items make it up is not.
// Revenue of each profile goes to `revenues`, if there is room.
BoostSlopes boost_slopes(const BoostShape& shape, const HardBoosts& hard,
                         std::span<const float> values, double temperature, int payers,
                         std::span<double> revenues = {});

}  // namespace agora::auctions

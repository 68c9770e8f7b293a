#pragma once
#include <vector>

#include "auctions/exact/bundle_sizes.h"

// Affine maximisers of those bidders who could win.
namespace agora::auctions {

// Which bids could win nothing in any of several SizeMaximisers of unit weights, whatever the
// others bid: those whose best k items, terms included, are worth at most the floor of k, for every
// k. The floor is what k items cost at least: boost(0, others) - boost(k, others) of any numbers of
// items that the others get. Why is in docs/auctions.md.
class Sieve {
 public:
  explicit Sieve(int items) : order_(items) {}
  // boosts (count), terms (m)
  void add(const BundleSizes& sizes, const std::vector<double>& boosts, std::vector<double> terms);

  // By how much the best `items` items are worth more than their floor at a level, where that is
  // most.
  struct Margin {
    double value;
    int level, items;
  };
  Margin margin(const double* bids);  // (m)
  bool passes(const double* bids) { return margin(bids).value > 0.0; }

  // What made a floor: it is boosts[without] - boosts[with].
  struct Floor {
    double value;
    int64_t without, with;
  };
  const Floor& floor(int level, int items) const { return levels_[level].floors[items - 1]; }
  // The items, the one that is worth most at a level first.
  const std::vector<int>& order(const double* bids, int level);

 private:
  struct Level {
    std::vector<Floor> floors;  // (m): of 1, ..., m items
    std::vector<double> terms;  // (m)
  };
  std::vector<Level> levels_;
  std::vector<int> order_;  // (m)
};

// Runs the maximiser for as many bidders as could win in any of them on these alone: the others get
// nothing. Bidders are alike, items need not be.
class SiftedMaximiser : public Mechanism {
 public:
  // Tensors boosts.S (number of ways k) and terms.S (m) for S = 1, ..., n bidders.
  explicit SiftedMaximiser(Parameters parameters);

  const std::string& name() const override { return parameters_.mechanism; }
  int bidders() const override { return parameters_.bidders; }
  int items() const override { return parameters_.items; }
  Parameters parameters() const override { return parameters_; }
  void run(int64_t profiles, int bidders, int items, const double* bids, double* allocation,
           double* payments) const override;

  Sieve sieve() const;

 private:
  Parameters parameters_;
  std::vector<SizeMaximiser> levels_;  // of 1, ..., n bidders
};

// About what the tables of all its maximisers have.
double sieve_entries(int bidders, int items);
// Of the tensors of those who bid when so many could win.
std::string level_suffix(int bidders);

}  // namespace agora::auctions

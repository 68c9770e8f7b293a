#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "auctions/mechanism.h"

// Affine maximisers in which whoever gets anything pays a fee to enter: no allocation has to be
// listed, only who enters is searched.
namespace agora::auctions {

// Who is to enter: the set of bidders with the highest sum over the items of the item's highest
// worth to one of them, if that is above 0, less their fees. Exact, by branch and bound.
//
// Without fees the sum is submodular: the more have entered, the less another one adds. So who adds
// its fee beside all others belongs to some best set, and who does not add it to those that have
// entered already stays out. What neither decides is branched on.
class EntrySearch {
 public:
  static constexpr int kNobody = -1;

  EntrySearch(int bidders, int items);

  // Of worths (n, m) and fees (n), which have to stay for what follows.
  double best(const double* worths, const double* fees);
  // The same as if a bidder were not there: who is needed beside all others is so without it, too.
  double best_without(int bidder);
  // How many worths all searches have read so far: exponentially many in the bidders at worst. Who
  // has read `most` stops, and what it finds then is not exact.
  int64_t read() const { return read_; }
  void stop_after(int64_t most) { most_read_ = most; }
  // Those of the last of them, in no order.
  const std::vector<int>& who() const { return best_who_; }

 private:
  void begin();
  double go_on(int without);
  void search(int depth, double value);
  void try_all(int depth, const std::vector<int>& open, size_t from, double value);
  void enter(int bidder, int depth, double& value);
  double added(int bidder, const double* held) const;
  // Those enter who add their fee beside all others, if any.
  bool enter_the_needed(int depth, double& value);
  // An upper bound of what can still be added, less fees; `left_` is what it leaves of each fee.
  double added_at_most(int depth);
  void note_pass(const std::vector<int>& open) { read_ += std::ssize(open) * items_; }
  double* held(int depth) { return held_.data() + int64_t{depth} * items_; }
  const double* worth_to(int bidder) const { return worths_ + int64_t{bidder} * items_; }

  int bidders_, items_;
  const double *worths_ = nullptr, *fees_ = nullptr;
  std::vector<double> held_;            // (depths, m): the highest worth to those who have entered
  std::vector<std::vector<int>> open_;  // (depths): who could still enter
  std::vector<double> left_;            // (n)
  std::vector<double> most_, next_;     // (m)
  // Who adds its fee beside all others, the two highest worths to them, and who else could enter.
  std::vector<int> needed_, others_;
  std::vector<double> first_, second_;  // (m)
  std::vector<int> who_, best_who_;
  double best_ = 0.0;
  int64_t read_ = 0, most_read_ = std::numeric_limits<int64_t>::max();
};

// Chooses who enters and the allocation to them with the highest sum of w_i (b_ij - reserve_ij)
// over what is sold, less w_i fee_i of those who enter; bidder i pays (the highest sum without it -
// that of the others and of all reserves and fees now) / w_i. Fees and reserves are not negative,
// so that nobody is paid.
class EntryFees : public Mechanism {
 public:
  static constexpr int kMostBidders = 50;

  explicit EntryFees(Parameters parameters);  // tensors weights (n), fees (n), reserves (n, m)

  const std::string& name() const override { return parameters_.mechanism; }
  int bidders() const override { return parameters_.bidders; }
  int items() const override { return parameters_.items; }
  Parameters parameters() const override { return parameters_; }
  void run(int64_t profiles, int bidders, int items, const double* bids, double* allocation,
           double* payments) const override;

 private:
  Parameters parameters_;
  std::vector<double> weights_, fees_, reserves_;  // fees times weights
};

}  // namespace agora::auctions

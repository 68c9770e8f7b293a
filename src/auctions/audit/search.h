#pragma once
#include <functional>
#include <vector>

#include "auctions/audit/audit.h"
#include "auctions/setting.h"

namespace agora::auctions {

// Where a bidder may bid in a search.
class BidSpace {
 public:
  BidSpace(const Setting& setting, int bidder);
  // The bid inside the domain (items): clipped, or the nearest atom below in a discrete one.
  void project(double* bid) const;
  bool discrete() const { return !atoms_.empty(); }
  const std::vector<std::vector<double>>& atoms() const { return atoms_; }  // (items) or empty
  double width(int item) const { return high_[item] - low_[item]; }
  double low(int item) const { return low_[item]; }
  double high(int item) const { return high_[item]; }

 private:
  std::vector<double> low_, high_;
  std::vector<std::vector<double>> atoms_;
};

// One bidder's utility as a function of its own bid, the others bidding the truth.
class Probe {
 public:
  Probe(const Mechanism& mechanism, const Setting& setting, int bidder, const double* values);
  int items() const { return items_; }
  const double* truth() const { return values_.data() + int64_t{bidder_} * items_; }
  const std::vector<double>& values() const { return values_; }
  // bids (count, items) -> utility (count)
  void utility(const std::vector<double>& bids, std::vector<double>& utility);
  // The same with derivatives (count, items).
  void gradient(const std::vector<double>& bids, std::vector<double>& utility,
                std::vector<double>& gradient);

 private:
  void fill(const std::vector<double>& bids);
  const Mechanism& mechanism_;
  int bidders_, items_, bidder_;
  std::vector<double> values_;  // (bidders, items)
  std::vector<double> all_bids_, allocation_, payments_, own_values_;
};

// The best bid a search has seen.
struct Best {
  double utility;
  std::vector<double> bid;  // (items)
  void take(const std::vector<double>& bids, const std::vector<double>& utilities);
};

// Starts, best first, at most `keep` of them; bids (count, items).
std::vector<double> best_starts(const std::vector<double>& bids,
                                const std::vector<double>& utilities, int items, size_t keep);

// Moves every start along single items by `step` of the item's width, halving the step of a start
// that finds nothing better, down to `smallest`.
void pattern_search(Probe& probe, const BidSpace& space, std::vector<double> starts, double step,
                    double smallest, int rounds, Best& best);

// Adam ascent of every start; the rate (of the item's width where `relative`) falls to
// `final_share` of itself. Halves the number of starts now and then, keeping those that gained
// most.
struct Ascent {
  int steps = 300;
  double rate = 0.001;
  bool relative = false;
  double final_share = 1.0;
  bool drop = true;
};
void adam_search(Probe& probe, const BidSpace& space, std::vector<double> starts,
                 const Ascent& options, Best& best);

// Runs search(probe, space, rng-addressed profile and bidder, best) for every profile and bidder
// and gathers the gains over the truth. Profiles are those evaluate() uses.
RegretTest gather_regret(
    const Mechanism& mechanism, const Setting& setting, const AuditOptions& options,
    const std::function<void(Probe&, const BidSpace&, int64_t profile, int bidder, Best&)>& search);

// `count` draws of a bidder's row of values, projected: bids (count, items), appended.
void add_draws(const Setting& setting, const BidSpace& space, uint64_t seed, int64_t profile,
               int bidder, int count, std::vector<double>& bids);
// Every combination of atoms of a discrete space, up to `most`; empty if there are more.
std::vector<double> all_bids(const BidSpace& space, int items, size_t most);

}  // namespace agora::auctions

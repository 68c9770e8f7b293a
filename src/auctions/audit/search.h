#pragma once
#include <algorithm>
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
  int items() const { return static_cast<int>(low_.size()); }
  double width(int item) const { return high_[item] - low_[item]; }
  double low(int item) const { return low_[item]; }
  double high(int item) const { return high_[item]; }
  bool unbounded(int item) const { return unbounded_[item]; }  // bids may be above high()
  bool endless() const {
    return std::find(unbounded_.begin(), unbounded_.end(), true) != unbounded_.end();
  }
  // The unit of a search's steps: the domain, or where it has no end the usual part of it.
  double scale(int item) const { return scale_[item]; }
  BidSpace in_units() const;  // the same with scales of 1
  // From the lowest bid (share 0) to the highest (1); of a domain without end, half of it is usual.
  double level(int item, double share) const;

 private:
  std::vector<double> low_, high_, scale_;
  std::vector<bool> unbounded_;
  std::vector<std::vector<double>> atoms_;
};

// Bids of one bidder, each in one of several profiles.
struct Bids {
  std::vector<double> rows;  // (count, items)
  std::vector<int> profile;  // (count)
  void add(int in_profile, const double* bid, int items) {
    profile.push_back(in_profile);
    rows.insert(rows.end(), bid, bid + items);
  }
};

// One bidder's utility as a function of its own bid, the others bidding the truth, in several
// profiles at once: a network is fastest on many bids.
class Probe {
 public:
  // values (profiles, bidders, items)
  Probe(const Mechanism& mechanism, const Setting& setting, int bidder, const double* values,
        int profiles = 1);
  int bidders() const { return bidders_; }
  int items() const { return items_; }
  int profiles() const { return profiles_; }
  const double* values(int profile) const {  // (bidders, items)
    return values_.data() + int64_t{profile} * bidders_ * items_;
  }
  const double* truth(int profile) const { return values(profile) + int64_t{bidder_} * items_; }
  // bids (count, items) -> utility (count)
  void utility(const Bids& bids, std::vector<double>& utility);
  // The same with derivatives (count, items).
  void gradient(const Bids& bids, std::vector<double>& utility, std::vector<double>& gradient);

 private:
  template <typename Body>
  void for_slices(const Bids& bids, Body body);
  const Mechanism& mechanism_;
  const Setting& setting_;
  int bidders_, items_, bidder_, profiles_;
  std::vector<double> values_;  // (profiles, bidders, items)
  std::vector<double> all_bids_, allocation_, payments_, own_values_;
};

// The best bid a search has seen in each profile.
struct BestLie {
  std::vector<double> utility;  // (profiles)
  std::vector<double> bid;      // (profiles, items)
  void take(const Bids& bids, const std::vector<double>& utilities);
};

// Starts, best first, at most `keep` of each profile.
Bids best_starts(const Bids& bids, const std::vector<double>& utilities, int items, size_t keep);
// The same, each at least `apart[k]` scales in some item from those taken before it: several hills
// instead of many places on the highest.
Bids varied_starts(const Bids& bids, const std::vector<double>& utilities,
                   const std::vector<double>& apart, const BidSpace& space, size_t keep);

// Moves every start by `step` scales along single items, with `diagonals` also across them and on
// in the direction of its last success, and halves the step of a start that finds nothing better,
// down to `smallest`. Many items are tried a few at a time.
struct Pattern {
  double step, smallest;
  int rounds;  // over all items
  bool diagonals = false;
};
void pattern_search(Probe& probe, const BidSpace& space, Bids starts, const Pattern& options,
                    BestLie& best);

// Adam ascent of every start; the rate, in scales, falls to `final_share` of itself. Halves the
// number of starts of a profile now and then, keeping those that gained most. Returns the best
// place of each start that was left.
struct Ascent {
  int steps = 300;
  double rate = 0.001;
  double final_share = 1.0;
};
Bids adam_search(Probe& probe, const BidSpace& space, Bids starts, const Ascent& options,
                 BestLie& best);

// Improves `best` for one bidder in a group of profiles first, first + 1, ...
using Search =
    std::function<void(Probe&, const BidSpace&, int64_t first, int bidder, BestLie& best)>;

// Bytes that a search keeps of one profile: its bids, and the draws it starts from.
double search_bytes(const Setting& setting, const AuditOptions& options);
inline constexpr int64_t kFewestTogether = 8;  // profiles searched at once, by a thread,
inline constexpr double kMostSearchBytes = int64_t{1} << 30;  // which may keep so much

// Runs the searches for every bidder and all profiles, those evaluate() uses, and gathers the gains
// over the truth after each search. Every search goes on from what the one before found.
std::vector<RegretTest> gather_regret(const Mechanism& mechanism, const Setting& setting,
                                      const AuditOptions& options,
                                      const std::vector<Search>& searches);

// `count` draws of a bidder's row of values for each of the probe's profiles, projected.
void add_draws(const Setting& setting, const BidSpace& space, uint64_t seed, int64_t first,
               const Probe& probe, int bidder, int count, Bids& bids);
// Every combination of atoms of a discrete space, up to `most`; empty if there are more.
std::vector<double> all_bids(const BidSpace& space, int items, size_t most);

}  // namespace agora::auctions

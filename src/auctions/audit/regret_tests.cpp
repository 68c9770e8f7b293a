// Two searches for profitable lies: the thesis's own, and a stronger one.
#include <algorithm>
#include <cmath>

#include "auctions/audit/search.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr size_t kAllBids = 4096;  // a discrete bid space up to this size is tried whole
constexpr int kDraws = 32;         // of the strong test: fresh values, and bids of other profiles
constexpr int kGrid = 11;          // points per item
constexpr size_t kKept = 8;        // seeds that are refined

// True if the space is small enough to try every bid.
bool try_all(Probe& probe, const BidSpace& space, Best& best) {
  if (!space.discrete()) return false;
  const int m = probe.items();
  const std::vector<double> all = all_bids(space, m, kAllBids);
  if (all.empty()) return false;
  for (int profile = 0; profile < probe.profiles(); ++profile) {
    Bids bids;
    for (size_t at = 0; at < all.size(); at += m) bids.add(profile, all.data() + at, m);
    std::vector<double> utility;
    probe.utility(bids, utility);
    best.take(bids, utility);
  }
  return true;
}

// Seeds of the strong test in one of the probe's profiles.
class Seeds {
 public:
  Seeds(const Probe& probe, const BidSpace& space, int profile, Bids& bids)
      : space_(space), profile_(profile), m_(probe.items()), bids_(bids) {
    truth_.assign(probe.truth(profile), probe.truth(profile) + m_);
  }

  template <typename Value>
  void add(Value value) {  // of each item
    std::vector<double> bid(m_);
    for (int j = 0; j < m_; ++j) bid[j] = value(j);
    space_.project(bid.data());
    bids_.add(profile_, bid.data(), m_);
  }

  // The coarse grid of each item with the truth elsewhere, and of all items together for up to two.
  void add_grid() {
    const auto level = [&](int item, int k) {
      return space_.low(item) + space_.width(item) * k / (kGrid - 1);
    };
    for (int item = 0; item < m_; ++item) {
      for (int k = 0; k < kGrid; ++k) {
        add([&](int j) { return j == item ? level(j, k) : truth_[j]; });
      }
    }
    for (int k = 0; m_ == 2 && k < kGrid * kGrid; ++k) {
      add([&](int j) { return level(j, j == 0 ? k / kGrid : k % kGrid); });
    }
  }

  // Bids that suggest themselves: scaled truth, nothing, everything, just beside the others'.
  void add_usual(const double* values, int bidders, int bidder) {
    add([&](int j) { return truth_[j]; });
    for (double scale : {0.5, 0.8, 0.95, 0.99, 1.01, 1.05, 1.25, 2.0}) {
      add([&](int j) { return scale * truth_[j]; });
    }
    add([&](int j) { return space_.low(j); });
    add([&](int j) { return space_.high(j); });
    for (double beside : {1 - 1e-6, 1 + 1e-6}) {
      const auto highest = [&](int j) {
        double top = 0.0;
        for (int i = 0; i < bidders; ++i) {
          if (i != bidder) top = std::max(top, values[i * m_ + j]);
        }
        return beside * top;
      };
      for (int i = 0; i < bidders; ++i) {
        if (i != bidder) add([&](int j) { return beside * values[i * m_ + j]; });
      }
      if (bidders < 2) continue;
      add(highest);
      for (int item = 0; item < m_; ++item) {  // one item at a time, the truth elsewhere
        add([&](int j) { return j == item ? highest(j) : truth_[j]; });
      }
    }
  }

 private:
  const BidSpace& space_;
  int profile_, m_;
  Bids& bids_;
  std::vector<double> truth_;
};

}  // namespace

RegretTest thesis_regret(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options) {
  return gather_regret(
      mechanism, setting, options,
      [&](Probe& probe, const BidSpace& space, int64_t first, int bidder, Best& best) {
        if (try_all(probe, space, best)) return;
        Bids starts;
        std::vector<double> utility;
        add_draws(setting, space, options.seed, first, probe, bidder, options.starts, starts);
        if (mechanism.has_gradients() && !space.discrete()) {
          adam_search(probe, space, std::move(starts),
                      {.steps = options.steps, .rate = options.rate}, best);
          return;
        }
        // Without gradients: the best starts, moved within the same reach by single items.
        probe.utility(starts, utility);
        best.take(starts, utility);
        pattern_search(probe, space, best_starts(starts, utility, probe.items(), kKept),
                       std::min(0.25, options.rate * options.steps / 2), 1e-4, 40, best);
      });
}

RegretTest strong_regret(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options) {
  const int64_t others = setting.held_out() > 0 ? setting.held_out() : options.regret_profiles;
  return gather_regret(
      mechanism, setting, options,
      [&](Probe& probe, const BidSpace& space, int64_t first, int bidder, Best& best) {
        if (try_all(probe, space, best)) return;
        const int n = setting.bidders(), m = probe.items();
        Bids bids;
        std::vector<double> other(n * m), utility;
        add_draws(setting, space, options.seed + 1, first, probe, bidder, kDraws, bids);
        for (int profile = 0; profile < probe.profiles(); ++profile) {
          Seeds seeds(probe, space, profile, bids);
          for (int k = 1; k <= kDraws; ++k) {
            setting.sample_held_out(options.seed, kEvaluationStream, (first + profile + k) % others,
                                    1, other.data());
            seeds.add([&](int j) { return other[bidder * m + j]; });
          }
          seeds.add_grid();
          seeds.add_usual(probe.values(profile), n, bidder);
        }
        probe.utility(bids, utility);
        best.take(bids, utility);
        Bids kept = best_starts(bids, utility, m, kKept);
        for (int k = 0; k < probe.profiles(); ++k) kept.add(k, probe.truth(k), m);
        if (mechanism.has_gradients() && !space.discrete()) {
          adam_search(probe, space, kept,
                      {.steps = 200, .rate = 0.1, .relative = true, .final_share = 1e-3}, best);
        }
        pattern_search(probe, space, std::move(kept), 0.1, 1e-5, 60, best);
      });
}

}  // namespace agora::auctions

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
  const std::vector<double> bids = all_bids(space, probe.items(), kAllBids);
  if (bids.empty()) return false;
  std::vector<double> utility;
  probe.utility(bids, utility);
  best.take(bids, utility);
  return true;
}

// The coarse grid of each item with the truth elsewhere, and of all items together for up to two.
void add_grid(const Probe& probe, const BidSpace& space, std::vector<double>& bids) {
  const int m = probe.items();
  const auto level = [&](int item, int k) {
    return space.low(item) + space.width(item) * k / (kGrid - 1);
  };
  for (int j = 0; j < m; ++j) {
    for (int k = 0; k < kGrid; ++k) {
      bids.insert(bids.end(), probe.truth(), probe.truth() + m);
      bids[bids.size() - m + j] = level(j, k);
    }
  }
  for (int k = 0; m == 2 && k < kGrid * kGrid; ++k) {
    bids.push_back(level(0, k / kGrid));
    bids.push_back(level(1, k % kGrid));
  }
}

// Bids that suggest themselves: scaled truth, nothing, everything, and just beside the others'.
void add_usual(const Probe& probe, const BidSpace& space, int bidder, std::vector<double>& bids) {
  const int m = probe.items();
  const int n = static_cast<int>(probe.values().size()) / m;
  const auto add = [&](auto value) {
    for (int j = 0; j < m; ++j) bids.push_back(value(j));
  };
  for (double scale : {0.5, 0.8, 0.95, 0.99, 1.01, 1.05, 1.25, 2.0}) {
    add([&](int j) { return scale * probe.truth()[j]; });
  }
  add([&](int j) { return space.low(j); });
  add([&](int j) { return space.high(j); });
  for (double beside : {1 - 1e-6, 1 + 1e-6}) {
    for (int i = 0; i < n; ++i) {
      if (i == bidder) continue;
      add([&](int j) { return beside * probe.values()[i * m + j]; });
    }
    if (n < 2) continue;
    const auto highest = [&](int j) {
      double top = 0.0;
      for (int i = 0; i < n; ++i)
        top = std::max(top, i == bidder ? 0.0 : probe.values()[i * m + j]);
      return beside * top;
    };
    add(highest);
    for (int item = 0; item < m; ++item) {  // one item at a time, the truth elsewhere
      add([&](int j) { return j == item ? highest(j) : probe.truth()[j]; });
    }
  }
}

}  // namespace

RegretTest thesis_regret(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options) {
  return gather_regret(
      mechanism, setting, options,
      [&](Probe& probe, const BidSpace& space, int64_t profile, int bidder, Best& best) {
        if (try_all(probe, space, best)) return;
        std::vector<double> starts, utility;
        add_draws(setting, space, options.seed, profile, bidder, options.starts, starts);
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
      [&](Probe& probe, const BidSpace& space, int64_t profile, int bidder, Best& best) {
        if (try_all(probe, space, best)) return;
        const int m = probe.items();
        std::vector<double> seeds(probe.truth(), probe.truth() + m), utility;
        add_draws(setting, space, options.seed + 1, profile, bidder, kDraws, seeds);
        std::vector<double> other(setting.bidders() * m);
        for (int k = 1; k <= kDraws; ++k) {
          setting.sample_held_out(options.seed, kEvaluationStream, (profile + k) % others, 1,
                                  other.data());
          seeds.insert(seeds.end(), other.begin() + bidder * m, other.begin() + (bidder + 1) * m);
        }
        add_grid(probe, space, seeds);
        add_usual(probe, space, bidder, seeds);
        for (size_t at = 0; at < seeds.size(); at += m) space.project(seeds.data() + at);
        probe.utility(seeds, utility);
        best.take(seeds, utility);
        std::vector<double> kept = best_starts(seeds, utility, m, kKept);
        kept.insert(kept.end(), probe.truth(), probe.truth() + m);
        if (mechanism.has_gradients() && !space.discrete()) {
          adam_search(probe, space, kept,
                      {.steps = 200, .rate = 0.1, .relative = true, .final_share = 1e-3}, best);
        }
        pattern_search(probe, space, std::move(kept), 0.1, 1e-5, 60, best);
      });
}

}  // namespace agora::auctions

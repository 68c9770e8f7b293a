// Two searches for profitable lies: the thesis's own, and a stronger one.
#include <algorithm>
#include <cmath>

#include "auctions/audit/search.h"
#include "auctions/audit/seeds.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr size_t kAllBids = 4096;  // a discrete bid space up to this size is tried whole
constexpr size_t kKept = 8;        // seeds that are refined

// True if the space is small enough to try every bid.
bool try_all(Probe& probe, const BidSpace& space, BestLie& best) {
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

Search thesis_search(const Mechanism& mechanism, const Setting& setting,
                     const AuditOptions& options) {
  return [&](Probe& probe, const BidSpace& domain, int64_t first, int bidder, BestLie& best) {
    if (try_all(probe, domain, best)) return;
    const BidSpace space = options.printed_step ? domain.in_units() : domain;
    Bids starts;
    std::vector<double> utility;
    add_draws(setting, space, options.seed, first, probe, bidder, options.starts, starts);
    if (mechanism.has_gradients() && !space.discrete()) {
      adam_search(probe, space, std::move(starts), {.steps = options.steps, .rate = options.rate},
                  best);
      return;
    }
    // Without gradients: the best starts, moved within the same reach by single items.
    probe.utility(starts, utility);
    best.take(starts, utility);
    const double reach = std::min(0.25, options.rate * options.steps / 2);
    pattern_search(probe, space, best_starts(starts, utility, probe.items(), kKept),
                   {.step = reach, .smallest = 1e-4, .rounds = 40}, best);
  };
}

Search strong_search(const Mechanism& mechanism, const Setting& setting,
                     const AuditOptions& options) {
  const auto maker = std::make_shared<SeedMaker>(mechanism, setting, options);
  return [&, maker](Probe& probe, const BidSpace& space, int64_t first, int bidder, BestLie& best) {
    if (try_all(probe, space, best)) return;
    const int m = probe.items();
    const Seeds seeds = maker->seeds(probe, space, first, bidder);
    Bids kept = varied_starts(seeds.bids, seeds.utility, seeds.apart, space, kKept);
    for (int k = 0; k < probe.profiles(); ++k) {
      kept.add(k, best.bid.data() + int64_t{k} * m, m);  // the truth, or what was found before
    }
    best.take(seeds.bids, seeds.utility);
    double step = 0.1;
    if (mechanism.has_gradients() && !space.discrete()) {
      const Bids ends =
          adam_search(probe, space, kept, {.steps = 120, .rate = 0.1, .final_share = 1e-3}, best);
      kept.profile.insert(kept.profile.end(), ends.profile.begin(), ends.profile.end());
      kept.rows.insert(kept.rows.end(), ends.rows.begin(), ends.rows.end());
      step = 0.03;
    }
    pattern_search(probe, space, std::move(kept),
                   {.step = step, .smallest = 1e-4, .rounds = 40, .diagonals = true}, best);
    Bids top;
    for (int k = 0; k < probe.profiles(); ++k) top.add(k, best.bid.data() + int64_t{k} * m, m);
    pattern_search(probe, space, std::move(top),
                   {.step = 1e-3, .smallest = 1e-7, .rounds = 60, .diagonals = true}, best);
  };
}

}  // namespace

RegretTest thesis_regret(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options) {
  return gather_regret(mechanism, setting, options,
                       {thesis_search(mechanism, setting, options)})[0];
}

RegretTest strong_regret(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options) {
  return gather_regret(mechanism, setting, options,
                       {strong_search(mechanism, setting, options)})[0];
}

RegretTests regret_tests(const Mechanism& mechanism, const Setting& setting,
                         const AuditOptions& options) {
  std::vector<Search> searches;
  if (options.thesis_test) searches.push_back(thesis_search(mechanism, setting, options));
  if (options.strong_test) searches.push_back(strong_search(mechanism, setting, options));
  std::vector<RegretTest> found = gather_regret(mechanism, setting, options, searches);
  RegretTests result;
  if (options.strong_test) result.strong = std::move(found.back());
  if (options.thesis_test) result.thesis = std::move(found.front());
  return result;
}

}  // namespace agora::auctions

#include <algorithm>

#include "auctions/audit/search.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kPartsAtLeast = 32;   // unless so few profiles are searched together
constexpr int64_t kBidsOfASearch = 32;  // in a profile, at the least

// Profiles searched together, so that their bids are as many as the mechanism is fastest on.
// What is found does not depend on it.
int64_t profiles_together(const Mechanism& mechanism, const Setting& setting,
                          const AuditOptions& options, int64_t profiles) {
  const auto fit = static_cast<int64_t>(kMostSearchBytes / search_bytes(setting, options));
  const int64_t wanted = mechanism.profiles_at_once() / kBidsOfASearch;
  return std::max(kFewestTogether, std::min({wanted, fit, profiles / kPartsAtLeast}));
}

struct Worst {
  double gain = -1;
  int64_t profile = 0;
  int bidder = 0;
  std::vector<double> values, bid;
};

struct Gains {
  std::vector<double> gains;  // (profiles, bidders)
  std::vector<Worst> worst;   // of each part
};

RegretTest summary(const Gains& found, int bidders) {
  std::vector<double> gains = found.gains;
  RegretTest result;
  result.gains = found.gains;
  result.per_bidder.assign(bidders, 0.0);
  const double profiles = static_cast<double>(gains.size()) / bidders;
  for (size_t e = 0; e < gains.size(); ++e) {
    result.mean += gains[e] / static_cast<double>(gains.size());
    result.per_bidder[e % bidders] += gains[e] / profiles;
  }
  const Worst* top = &found.worst[0];
  for (const Worst& each : found.worst) top = each.gain > top->gain ? &each : top;
  result.max = top->gain;
  result.worst_profile = top->profile;
  result.worst_bidder = top->bidder;
  result.worst_values = top->values;
  result.worst_bid = top->bid;
  const size_t place = std::min(gains.size() - 1, static_cast<size_t>(0.99 * gains.size()));
  std::nth_element(gains.begin(), gains.begin() + place, gains.end());
  result.p99 = gains[place];
  return result;
}

}  // namespace

double search_bytes(const Setting& setting, const AuditOptions& options) {
  const double n = setting.bidders(), m = setting.items(), starts = options.starts;
  return 8 * (4 * (starts + 18 * m + 2 * n) * m + starts * n * m / kFewestTogether);
}

std::vector<RegretTest> gather_regret(const Mechanism& mechanism, const Setting& setting,
                                      const AuditOptions& options,
                                      const std::vector<Search>& searches) {
  const int n = setting.bidders(), m = setting.items();
  int64_t profiles = options.regret_profiles;
  if (setting.held_out() > 0) profiles = std::min(profiles, setting.held_out());
  std::vector<BidSpace> spaces;
  for (int i = 0; i < n; ++i) spaces.emplace_back(setting, i);
  std::vector<Gains> found(searches.size());
  const int64_t together = profiles_together(mechanism, setting, options, profiles);
  const int64_t parts = (profiles + together - 1) / together;
  for (Gains& each : found) {
    each.gains.resize(profiles * n);
    each.worst.resize(parts);
  }
  default_pool().run(parts, [&](int64_t part) {
    const int64_t first = part * together;
    const auto count = static_cast<int>(std::min(profiles - first, together));
    std::vector<double> values(int64_t{count} * n * m), honest;
    setting.sample_held_out(options.seed, kEvaluationStream, first, count, values.data());
    for (int i = 0; i < n; ++i) {
      Probe probe(mechanism, setting, i, values.data(), count);
      Bids truths;
      for (int k = 0; k < count; ++k) truths.add(k, probe.truth(k), m);
      probe.utility(truths, honest);
      BestLie best{honest, truths.rows};
      for (size_t s = 0; s < searches.size(); ++s) {
        searches[s](probe, spaces[i], first, i, best);
        for (int k = 0; k < count; ++k) {
          const double gain = best.utility[k] - honest[k];
          found[s].gains[(first + k) * n + i] = gain;
          Worst& worst = found[s].worst[part];
          if (gain <= worst.gain) continue;
          const auto bid = best.bid.begin() + int64_t{k} * m;
          worst = {gain, first + k, i, {probe.values(k), probe.values(k) + n * m}, {bid, bid + m}};
        }
      }
    }
  });
  std::vector<RegretTest> results;
  for (const Gains& each : found) results.push_back(summary(each, n));
  return results;
}

}  // namespace agora::auctions

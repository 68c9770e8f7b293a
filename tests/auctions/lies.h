#pragma once
// Lies by brute force: every value of a grid against every bid of it, and bids beyond all values.
#include <algorithm>
#include <cmath>
#include <vector>

#include "auctions/mechanism.h"
#include "base/rng.h"

namespace agora::auctions {

// The most that a bidder gains by one of `bids` bids, or by a bid beside which all others vanish,
// in place of another of them that is its value; the others' bids are drawn `trials` times, a fifth
// of them 0, and each bidder has its turn to lie.
inline double most_gained(const Mechanism& mechanism, uint64_t seed, int trials, int bids) {
  constexpr double kBeyond[] = {1e6, 1e12, 1e17, 1e300};
  const int n = mechanism.bidders(), m = mechanism.items();
  Rng rng(seed, 2);
  double most = 0.0;
  for (int trial = 0; trial < trials; ++trial) {
    const int liar = trial % n;
    std::vector<double> others((n - 1) * m), own(bids * m), all;
    for (double& bid : others) bid = rng.uniform() < 0.2 ? 0.0 : rng.uniform();
    for (double& bid : own) bid = std::round(10 * 1.5 * rng.uniform()) / 10;
    for (const double beyond : kBeyond) {
      for (int j = 0; j < m; ++j) own.push_back(rng.uniform() < 0.5 ? beyond : rng.uniform());
    }
    const int lies = static_cast<int>(own.size()) / m;
    for (int k = 0; k < lies; ++k) {
      all.insert(all.end(), others.begin(), others.begin() + liar * m);
      all.insert(all.end(), own.begin() + k * m, own.begin() + (k + 1) * m);
      all.insert(all.end(), others.begin() + liar * m, others.end());
    }
    const Outcome outcome = run(mechanism, all);
    const auto utility = [&](int value, int bid) {
      double worth = -outcome.payments[bid * n + liar];
      for (int j = 0; j < m; ++j) {
        worth += own[value * m + j] * outcome.allocation[(bid * n + liar) * m + j];
      }
      return worth;
    };
    for (int value = 0; value < bids; ++value) {
      for (int bid = 0; bid < lies; ++bid) {
        most = std::max(most, utility(value, bid) - utility(value, value));
      }
    }
  }
  return most;
}

}  // namespace agora::auctions

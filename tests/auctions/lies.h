#pragma once
// Lies by brute force: every value of a grid against every bid of it.
#include <algorithm>
#include <cmath>
#include <vector>

#include "auctions/mechanism.h"
#include "base/rng.h"

namespace agora::auctions {

// The most that the first bidder gains by one of `bids` bids in place of another that is its value;
// the others' bids are drawn `trials` times, a fifth of them 0.
inline double most_gained(const Mechanism& mechanism, uint64_t seed, int trials, int bids) {
  const int n = mechanism.bidders(), m = mechanism.items();
  Rng rng(seed, 2);
  double most = 0.0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> others((n - 1) * m), own(bids * m), all;
    for (double& bid : others) bid = rng.uniform() < 0.2 ? 0.0 : rng.uniform();
    for (double& bid : own) bid = std::round(10 * 1.5 * rng.uniform()) / 10;
    for (int k = 0; k < bids; ++k) {
      all.insert(all.end(), own.begin() + k * m, own.begin() + (k + 1) * m);
      all.insert(all.end(), others.begin(), others.end());
    }
    const Outcome outcome = run(mechanism, all);
    const auto utility = [&](int value, int bid) {
      double worth = -outcome.payments[bid * n];
      for (int j = 0; j < m; ++j) worth += own[value * m + j] * outcome.allocation[bid * n * m + j];
      return worth;
    };
    for (int value = 0; value < bids; ++value) {
      for (int bid = 0; bid < bids; ++bid) {
        most = std::max(most, utility(value, bid) - utility(value, value));
      }
    }
  }
  return most;
}

}  // namespace agora::auctions

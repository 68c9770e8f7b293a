// How much a mechanism depends on the order of bidders and items (ch. 4).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "auctions/audit/audit.h"
#include "auctions/mechanism.h"
#include "auctions/setting.h"
#include "base/rng.h"
#include "base/signals.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int64_t kMostPermutations = 5040;
constexpr int kSampled = 1000;
constexpr int kExactBidders = 6;
constexpr int kSearches = 8;  // of the worst order of more bidders
// Bids in the orders of a profile that are drawn, in the swaps of one round, and in one run.
constexpr int64_t kDrawnBids = 10'000'000, kSwappedBids = 4'000'000, kBidsAtOnce = 1 << 20;

using Order = std::vector<int>;

int64_t factorial(int n) {
  int64_t product = 1;
  for (int k = 2; k <= n && product <= kMostPermutations; ++k) product *= k;
  return product;
}

Order identity(int n) {
  Order order(n);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<Order> all_orders(int n) {
  std::vector<Order> result;
  Order order = identity(n);
  do result.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  return result;
}

// Runs permuted copies of one profile, in bounded memory; row i of a copy is the profile's row
// bidders[i].
class Permuted {
 public:
  Permuted(const Mechanism& mechanism, int n, int m, const double* values)
      : mechanism_(mechanism), n_(n), m_(m), values_(values) {}

  void add(const Order& bidders, const Order& items) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < m_; ++j) bids_.push_back(values_[bidders[i] * m_ + items[j]]);
    }
    if (static_cast<int64_t>(bids_.size()) >= kBidsAtOnce) run();
  }
  // Revenue of every copy added since the last call.
  std::vector<double> revenues() {
    run();
    utilities_.clear();
    return std::exchange(revenues_, {});
  }
  // Utility of every seat of every copy, (copies, bidders).
  std::vector<double> utilities() {
    run();
    revenues_.clear();
    return std::exchange(utilities_, {});
  }

 private:
  void run() {
    throw_if_stopped();
    const int64_t count = static_cast<int64_t>(bids_.size()) / (n_ * m_);
    allocation_.resize(bids_.size());
    payments_.resize(count * n_);
    run_checked(mechanism_, count, n_, m_, bids_.data(), allocation_.data(), payments_.data());
    revenues_.resize(revenues_.size() + count, 0.0);
    double* revenue = revenues_.data() + revenues_.size() - count;
    for (int64_t e = 0; e < count * n_; ++e) {
      revenue[e / n_] += payments_[e];
      double utility = -payments_[e];
      for (int j = 0; j < m_; ++j) utility += bids_[e * m_ + j] * allocation_[e * m_ + j];
      utilities_.push_back(utility);
    }
    bids_.clear();
  }
  const Mechanism& mechanism_;
  int n_, m_;
  const double* values_;
  std::vector<double> bids_, allocation_, payments_;
  std::vector<double> revenues_, utilities_;
};

// All pairs of seats, or some drawn ones where all would take too long.
std::vector<std::pair<int, int>> pairs_of_seats(int n, int m, Rng& rng) {
  const int64_t all = int64_t{n} * (n - 1) / 2;
  const int64_t affordable = std::max<int64_t>(kSearches, kSwappedBids / (int64_t{n} * m));
  std::vector<std::pair<int, int>> pairs;
  if (all > affordable) {
    Order seats = identity(n);
    while (static_cast<int64_t>(pairs.size()) < affordable) {
      rng.shuffle(seats);
      for (int k = 0; k + 1 < n && static_cast<int64_t>(pairs.size()) < affordable; k += 2) {
        pairs.emplace_back(std::min(seats[k], seats[k + 1]), std::max(seats[k], seats[k + 1]));
      }
    }
    return pairs;
  }
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

double lowest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// The order of bidders with the lowest revenue: all of them, or swaps from several starts.
double worst_revenue(Permuted& permuted, int n, int m, Rng rng) {
  const Order items = identity(m);
  if (n <= kExactBidders) {
    for (const Order& order : all_orders(n)) permuted.add(order, items);
    return lowest(permuted.revenues());
  }
  double worst = 1e300;
  for (int search = 0; search < kSearches; ++search) {
    Order order = identity(n);
    if (search > 0) rng.shuffle(order);
    permuted.add(order, items);
    double current = permuted.revenues()[0];
    while (true) {
      const std::vector<std::pair<int, int>> swaps = pairs_of_seats(n, m, rng);
      for (const auto& [a, b] : swaps) {
        std::swap(order[a], order[b]);
        permuted.add(order, items);
        std::swap(order[a], order[b]);
      }
      const std::vector<double> found = permuted.revenues();
      const auto best = std::min_element(found.begin(), found.end());
      if (*best >= current) break;
      current = *best;
      const auto [a, b] = swaps[best - found.begin()];
      std::swap(order[a], order[b]);
    }
    worst = std::min(worst, current);
  }
  return worst;
}

}  // namespace

SymmetryTest symmetry_test(const Mechanism& mechanism, const Setting& setting,
                           const AuditOptions& options) {
  const int n = setting.bidders(), m = setting.items();
  SymmetryTest result;
  result.profiles = options.symmetry_profiles;
  if (setting.held_out() > 0) result.profiles = std::min(result.profiles, setting.held_out());
  result.all_permutations = factorial(n) * factorial(m) <= kMostPermutations;
  result.permutations = result.all_permutations
                            ? factorial(n) * factorial(m)
                            : std::clamp<int64_t>(kDrawnBids / (int64_t{n} * m), 10, kSampled);
  result.exact_exploitability = n <= kExactBidders;
  std::vector<std::pair<Order, Order>> orders;
  if (result.all_permutations) {
    for (const Order& bidders : all_orders(n)) {
      for (const Order& items : all_orders(m)) orders.emplace_back(bidders, items);
    }
  } else {
    orders.emplace_back(identity(n), identity(m));
    for (uint32_t k = 1; k < result.permutations; ++k) {
      Rng rng(options.seed, kAuditStream, 0, k);
      Order bidders = identity(n), items = identity(m);
      rng.shuffle(bidders);
      rng.shuffle(items);
      orders.emplace_back(bidders, items);
    }
  }
  result.revenue_range.assign(result.profiles, 0.0);
  std::vector<double> honest(result.profiles), worst(result.profiles);
  std::vector<double> treatment(result.profiles, 0.0), treatment_max(result.profiles, 0.0);
  default_pool().run(result.profiles, [&](int64_t k) {
    std::vector<double> values(n * m);
    setting.sample_held_out(options.seed, kEvaluationStream, k, 1, values.data());
    Permuted permuted(mechanism, n, m, values.data());
    for (const auto& [bidders, items] : orders) permuted.add(bidders, items);
    const std::vector<double> revenues = permuted.revenues();
    honest[k] = revenues[0];  // the identity comes first
    result.revenue_range[k] =
        *std::max_element(revenues.begin(), revenues.end()) - lowest(revenues);
    worst[k] =
        worst_revenue(permuted, n, m, Rng(options.seed, kAuditStream, 1, static_cast<uint32_t>(k)));
    if (n < 2) return;
    const Order seats = identity(n), items = identity(m);
    permuted.add(seats, items);
    Rng rng(options.seed, kAuditStream, 2, static_cast<uint32_t>(k));
    const std::vector<std::pair<int, int>> pairs = pairs_of_seats(n, m, rng);
    for (const auto& [a, b] : pairs) {
      Order swapped = seats;
      std::swap(swapped[a], swapped[b]);
      permuted.add(swapped, items);
    }
    const std::vector<double> utility = permuted.utilities();
    const auto gaps = static_cast<double>(2 * pairs.size());
    for (size_t copy = 1; copy <= pairs.size(); ++copy) {
      const auto [a, b] = pairs[copy - 1];  // a sits in b's seat and the other way round
      for (const double gap :
           {utility[a] - utility[copy * n + b], utility[b] - utility[copy * n + a]}) {
        treatment[k] += std::abs(gap) / gaps;
        treatment_max[k] = std::max(treatment_max[k], std::abs(gap));
      }
    }
  });
  double expected = 0.0, adversarial = 0.0;
  for (int64_t k = 0; k < result.profiles; ++k) {
    const auto total = static_cast<double>(result.profiles);
    expected += honest[k] / total;
    adversarial += worst[k] / total;
    result.range_mean += result.revenue_range[k] / total;
    result.range_max = std::max(result.range_max, result.revenue_range[k]);
    result.treatment_mean += treatment[k] / total;
    result.treatment_max = std::max(result.treatment_max, treatment_max[k]);
  }
  result.exploitability = expected > 0.0 ? 100.0 * (expected - adversarial) / expected : 0.0;
  return result;
}

}  // namespace agora::auctions

#include "auctions/exact/sieve.h"

#include <numeric>

#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr int64_t kProfilesAtOnce = 256;

// One of the maximisers, as its own file would have it.
Parameters level_of(const Parameters& all, int bidders) {
  const int64_t m = all.items;
  const std::vector<double>& terms = tensor(all, "terms" + level_suffix(bidders), {m}).values;
  Parameters level;
  level.mechanism = all.mechanism;
  level.setting = all.setting;
  level.bidders = bidders;
  level.items = all.items;
  level.tensors["weights"] = {{bidders}, std::vector<double>(bidders, 1.0)};
  auto& rows = level.tensors["terms"];
  rows.shape = {bidders, m};
  for (int i = 0; i < bidders; ++i)
    rows.values.insert(rows.values.end(), terms.begin(), terms.end());
  const int64_t boosts = BundleSizes(bidders, all.items).count();
  level.tensors["boosts"] = tensor(all, "boosts" + level_suffix(bidders), {boosts});
  return level;
}

}  // namespace

double sieve_entries(int bidders, int items) {
  return bidders * BundleSizes::table_size(bidders, items);
}

std::string level_suffix(int bidders) { return fmt::format(".{}", bidders); }

void Sieve::add(const BundleSizes& sizes, const std::vector<double>& boosts,
                std::vector<double> terms) {
  std::vector<Floor> floors(sizes.items(), {std::numeric_limits<double>::infinity(), 0, 0});
  for (int i = 0; i < sizes.bidders(); ++i) {
    for (int64_t k = 0; k < sizes.count(); ++k) {
      int64_t without = k;
      while (sizes.before(without, i) >= 0) without = sizes.before(without, i);
      if (without == k) continue;
      Floor& lowest = floors[sizes.sizes(k)[i] - 1];
      const double least = boosts[without] - boosts[k];
      if (least < lowest.value) lowest = {least, without, k};
    }
  }
  levels_.push_back({std::move(floors), std::move(terms)});
}

const std::vector<int>& Sieve::order(const double* bids, int level) {
  const std::vector<double>& terms = levels_[level].terms;
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [&](int a, int b) { return bids[a] + terms[a] > bids[b] + terms[b]; });
  return order_;
}

Sieve::Margin Sieve::margin(const double* bids) {
  Margin most{-std::numeric_limits<double>::infinity(), 0, 0};
  for (int level = 0; level < static_cast<int>(levels_.size()); ++level) {
    double worth = 0.0;
    int items = 0;
    for (const int j : order(bids, level)) {
      worth += bids[j] + levels_[level].terms[j];
      const double more = worth - floor(level, ++items).value;
      if (more > most.value) most = {more, level, items};
    }
  }
  return most;
}

SiftedMaximiser::SiftedMaximiser(Parameters parameters) : parameters_(std::move(parameters)) {
  if (sieve_entries(bidders(), items()) > BundleSizes::kMostEntries) {
    throw user_error("mechanism '{}': {}x{} is too large for boosts by numbers of items", name(),
                     bidders(), items());
  }
  for (int s = 1; s <= bidders(); ++s) levels_.emplace_back(level_of(parameters_, s));
}

Sieve SiftedMaximiser::sieve() const {
  Sieve sieve(items());
  for (const SizeMaximiser& level : levels_) {
    std::vector<double> terms = level.terms();
    terms.resize(items());  // everybody's
    sieve.add(level.sizes(), level.boosts(), std::move(terms));
  }
  return sieve;
}

void SiftedMaximiser::run(int64_t profiles, int n, int m, const double* bids, double* allocation,
                          double* payments) const {
  CHECK(accepts(n, m), "{} is {}x{}, the bids are {}x{}", name(), bidders(), items(), n, m);
  struct Group {
    std::vector<double> bids, allocation, payments;
    std::vector<int64_t> rows;  // whose: profile * n + bidder
  };
  std::vector<Group> groups(n);  // of 1, ..., n bidders
  std::vector<int64_t> left;
  Sieve sieve = this->sieve();
  std::fill(allocation, allocation + profiles * n * m, 0.0);
  std::fill(payments, payments + profiles * n, 0.0);
  for (int64_t first = 0; first < profiles; first += kProfilesAtOnce) {
    const int64_t end = std::min(profiles, first + kProfilesAtOnce);
    for (Group& group : groups) group.bids.clear(), group.rows.clear();
    for (int64_t profile = first; profile < end; ++profile) {
      left.clear();
      for (int64_t row = profile * n; row < (profile + 1) * n; ++row) {
        if (sieve.passes(bids + row * m)) left.push_back(row);
      }
      if (left.empty()) continue;
      Group& group = groups[left.size() - 1];
      for (const int64_t row : left) {
        group.rows.push_back(row);
        group.bids.insert(group.bids.end(), bids + row * m, bids + (row + 1) * m);
      }
    }
    for (int s = 1; s <= n; ++s) {
      Group& group = groups[s - 1];
      const auto rows = static_cast<int64_t>(group.rows.size());
      group.allocation.resize(group.bids.size());
      group.payments.resize(group.rows.size());
      levels_[s - 1].run(rows / s, s, m, group.bids.data(), group.allocation.data(),
                         group.payments.data());
      for (int64_t k = 0; k < rows; ++k) {
        const int64_t row = group.rows[k];
        std::copy_n(group.allocation.begin() + k * m, m, allocation + row * m);
        payments[row] = group.payments[k];
      }
    }
  }
}

}  // namespace agora::auctions

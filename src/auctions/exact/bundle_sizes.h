#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "auctions/mechanism.h"

// Affine maximisers whose boost of an allocation depends on how many items each bidder gets, and
// on item by item terms: all (n+1)^m allocations count, and none has to be listed.
namespace agora::auctions {

// All ways k (n) to say how many of m items each bidder gets, in the order of the items sold, then
// of the numbers; k = 0 is the first.
class BundleSizes {
 public:
  static constexpr double kMostEntries = 60'000;

  BundleSizes(int bidders, int items);
  // Of the tables of the first 0, 1, ..., m items together.
  static double table_size(int bidders, int items);

  int bidders() const { return bidders_; }
  int items() const { return items_; }
  int64_t count() const { return up_to(items_); }
  int64_t up_to(int sold) const { return ends_[sold]; }  // those who sell at most so many
  const int* sizes(int64_t k) const { return sizes_.data() + k * bidders_; }
  // The one with an item less for a bidder; -1 if it has none.
  int64_t before(int64_t k, int bidder) const { return before_[k * bidders_ + bidder]; }
  const std::vector<int64_t>& without(int bidder) const { return without_[bidder]; }

 private:
  int bidders_, items_;
  std::vector<int64_t> ends_, before_;
  std::vector<int> sizes_;
  std::vector<std::vector<int64_t>> without_;  // those in which a bidder has nothing
};

// The highest worth of an allocation for every k, of kLanes profiles at once.
template <typename Real>
class WorthTables {
 public:
  static constexpr int kLanes = 8;

  explicit WorthTables(const BundleSizes& sizes) : sizes_(sizes) {
    int64_t size = 0;
    for (int j = 0; j <= sizes.items(); ++j) {
      first_.push_back(size);
      size += sizes.up_to(j) * kLanes;
    }
    tables_.resize(size);
  }

  // worths (n, m, kLanes): of an item to a bidder.
  void fill(const Real* worths) {
    const int n = sizes_.bidders(), m = sizes_.items();
    for (int j = 0; j < m; ++j) {
      const Real* from = table(j);
      Real* to = tables_.data() + first_[j + 1];
      for (int64_t k = 0; k < sizes_.up_to(j + 1); ++k) {
        Real best[kLanes];
        if (k < sizes_.up_to(j)) {  // nobody gets item j
          std::copy_n(from + k * kLanes, kLanes, best);
        } else {
          std::fill_n(best, kLanes, -std::numeric_limits<Real>::infinity());
        }
        for (int i = 0; i < n; ++i) {
          const int64_t before = sizes_.before(k, i);
          if (before < 0) continue;
          const Real* worth = worths + (i * m + j) * kLanes;
          const Real* rest = from + before * kLanes;
          for (int l = 0; l < kLanes; ++l) best[l] = std::max(best[l], rest[l] + worth[l]);
        }
        std::copy_n(best, kLanes, to + k * kLanes);
      }
    }
    worths_ = worths;
  }

  const Real* of_all() const { return table(sizes_.items()); }  // (count, kLanes)

  // Calls took(i, j) for every item j that bidder i has in the best allocation for k.
  template <typename Took>
  void each_sale(int64_t k, int lane, Took took) const {
    for (int j = sizes_.items() - 1; j >= 0; --j) {
      const Real worth = table(j + 1)[k * kLanes + lane];
      if (k < sizes_.up_to(j) && table(j)[k * kLanes + lane] == worth) continue;
      for (int i = 0; i < sizes_.bidders(); ++i) {
        const int64_t before = sizes_.before(k, i);
        if (before < 0) continue;
        const Real own = worths_[(i * sizes_.items() + j) * kLanes + lane];
        if (table(j)[before * kLanes + lane] + own != worth) continue;
        took(i, j);
        k = before;
        break;
      }
    }
  }

 private:
  const Real* table(int j) const { return tables_.data() + first_[j]; }

  const BundleSizes& sizes_;
  std::vector<int64_t> first_;
  std::vector<Real> tables_;  // one per number of items, each (up_to(j), kLanes)
  const Real* worths_ = nullptr;
};

// Chooses the allocation with the highest sum of w_i b_ij + terms_ij over what is sold, plus the
// boost of its k; bidder i pays (the highest sum if it gets nothing - that of the others and the
// boosts now) / w_i. No term is above 0 and no boost rises with k, so that nobody is paid.
class SizeMaximiser : public Mechanism {
 public:
  // Tensors weights (n), terms (n, m), boosts (number of ways k).
  explicit SizeMaximiser(Parameters parameters);

  const std::string& name() const override { return parameters_.mechanism; }
  int bidders() const override { return parameters_.bidders; }
  int items() const override { return parameters_.items; }
  Parameters parameters() const override { return parameters_; }
  void run(int64_t profiles, int bidders, int items, const double* bids, double* allocation,
           double* payments) const override;

  const BundleSizes& sizes() const { return sizes_; }
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& terms() const { return terms_; }
  const std::vector<double>& boosts() const { return boosts_; }

 private:
  Parameters parameters_;
  BundleSizes sizes_;
  std::vector<double> weights_, terms_, boosts_;
};

// Why a setting is too large; "" if it is not.
std::string size_refusal(const Setting& setting);

// Boosts that do not rise with k: where one would, the lowest of those before it, whose number
// `from` tells.
void never_rising(const BundleSizes& sizes, std::vector<double>& boosts,
                  std::vector<int64_t>& from);

// Whether a bidder who faces higher prices of items never wants one that it did not win: for two
// bidders whose boosts make items complements (docs/auctions.md), and where every sale counts
// alike.
bool admits_markups(const BundleSizes& sizes, const std::vector<double>& boosts);

// Numbers that ways k share: those that differ by the order of bidders, if these are alike.
struct SharedBoosts {
  std::vector<int64_t> of;  // (count): which number
  std::vector<int> sold;    // (numbers): items
};
SharedBoosts shared_boosts(const BundleSizes& sizes, bool same_bidders);

}  // namespace agora::auctions

#pragma once
#include <vector>

#include "auctions/exact/bundle_sizes.h"

namespace agora::auctions {

// What a bidder buys of an affine maximiser whose prices are raised for it alone, for
// WorthTables::kLanes profiles at once.
class TariffChoice {
 public:
  using Tables = WorthTables<double>;
  static constexpr int kLanes = Tables::kLanes;

  explicit TariffChoice(const SizeMaximiser& base)
      : base_(base),
        markups_(admits_markups(base.sizes(), base.boosts())),
        tables_(base.sizes()),
        raised_(base.sizes()),
        worths_(static_cast<size_t>(base.bidders()) * base.items() * kLanes),
        trial_(worths_.size()),
        best_(static_cast<size_t>(base.items() + 1) * kLanes),
        which_(best_.size()),
        without_(kLanes) {}

  bool markups() const { return markups_; }  // else all are 0

  void look(int lanes, const double* bids) {  // (lanes, n, m)
    const int m = base_.items(), size = base_.bidders() * m;
    for (int e = 0; e < size; ++e) {
      for (int l = 0; l < lanes; ++l) {
        worths_[e * kLanes + l] = base_.weights()[e / m] * bids[l * size + e] + base_.terms()[e];
      }
    }
    tables_.fill(worths_.data());
  }

  // Bidder i at markups (m, kLanes).
  void consider(int i, const double* markups) {
    bidder_ = i;
    asked_ = markups;
    used_ = markups_ ? &raised_ : &tables_;
    if (markups_) {
      const size_t row = static_cast<size_t>(base_.items()) * kLanes;
      trial_ = worths_;
      for (size_t e = 0; e < row; ++e) trial_[i * row + e] -= base_.weights()[i] * markups[e];
      raised_.fill(trial_.data());
    }
    std::fill(best_.begin(), best_.end(), -std::numeric_limits<double>::infinity());
    const double* worth = used_->of_all();
    for (int64_t k = 0; k < base_.sizes().count(); ++k) {
      const int at = base_.sizes().sizes(k)[i] * kLanes;
      for (int l = 0; l < kLanes; ++l) {
        const double sum = worth[k * kLanes + l] + base_.boosts()[k];
        if (sum > best_[at + l]) best_[at + l] = sum, which_[at + l] = k;
      }
    }
    // Without it nobody pays a markup: the same as before.
    std::copy_n(best_.begin(), kLanes, without_.begin());
  }

  // What it gains by the best set of so many items, less the markups.
  double gain(int own, int lane) const {
    return (best_[own * kLanes + lane] - without_[lane]) / base_.weights()[bidder_];
  }
  int best_number(int lane) const {
    int best = 0;
    for (int own = 1; own <= base_.items(); ++own) {
      if (best_[own * kLanes + lane] > best_[best * kLanes + lane]) best = own;
    }
    return best;
  }
  // What it pays for that, markups among it. Its own bids are in no sum: one so large that others
  // vanish beside it pays the same.
  double price(int own, int lane) const {
    const int m = base_.items();
    const double weight = base_.weights()[bidder_];
    const int64_t chosen = which_[own * kLanes + lane];
    double now = base_.boosts()[chosen];
    used_->each_sale(chosen, lane, [&](int i, int j) {
      if (i != bidder_) {
        now += worths_[(i * m + j) * kLanes + lane];
        return;
      }
      now += base_.terms()[i * m + j];
      if (markups_) now -= weight * asked_[j * kLanes + lane];
    });
    return std::max(0.0, (without_[lane] - now) / weight);
  }
  // Calls took(j) for each of them.
  template <typename Took>
  void each_item(int own, int lane, Took took) const {
    used_->each_sale(which_[own * kLanes + lane], lane, [&](int i, int j) {
      if (i == bidder_) took(j);
    });
  }

 private:
  const SizeMaximiser& base_;
  bool markups_;
  int bidder_ = 0;
  Tables tables_, raised_;
  const Tables* used_ = nullptr;
  const double* asked_ = nullptr;       // markups
  std::vector<double> worths_, trial_;  // (n, m, kLanes)
  std::vector<double> best_;            // (m + 1, kLanes): by the number of its items
  std::vector<int64_t> which_;
  std::vector<double> without_;  // (kLanes)
};

}  // namespace agora::auctions

#include <algorithm>
#include <cmath>

#include "auctions/audit/search.h"
#include "auctions/limits.h"
#include "auctions/mechanism.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions {
namespace {

constexpr double kUsual = 0.95;              // quantile up to which bids are usual
constexpr int64_t kNumbersAtOnce = 1 << 16;  // bids of all bidders on all items
constexpr int64_t kFewNumbers = 128;         // bids of a profile of which the most are run at once

}  // namespace

BidSpace::BidSpace(const Setting& setting, int bidder) {
  bool all_discrete = !laws_of(setting).table;
  const std::vector<Law>& laws = laws_of(setting).rows[bidder]->marginals();
  for (int j = 0; j < setting.items(); ++j) {
    const Interval range = setting.search_domain(bidder, j);
    low_.push_back(laws_of(setting).table ? 0.0 : range.low);
    high_.push_back(range.high);
    unbounded_.push_back(std::isinf(setting.domain(bidder, j).high));
    const double usual = unbounded_[j] ? laws[j]->quantile(kUsual) - low_[j] : width(j);
    scale_.push_back(usual > 0.0 ? usual : 1.0);
    all_discrete = all_discrete && !laws[j]->atoms().empty();
  }
  for (int j = 0; all_discrete && j < setting.items(); ++j) {
    atoms_.emplace_back();
    for (const Atom& atom : laws[j]->atoms()) atoms_[j].push_back(atom.value);
  }
}

BidSpace BidSpace::in_units() const {
  BidSpace result = *this;
  result.scale_.assign(scale_.size(), 1.0);
  return result;
}

double BidSpace::level(int item, double share) const {
  if (!unbounded_[item]) return low_[item] + width(item) * share;
  const double reduced = share * width(item) / (width(item) + scale_[item]);  // x / (1 + x)
  return std::min(high_[item], low_[item] + scale_[item] * reduced / (1.0 - reduced));
}

void BidSpace::project(double* bid) const {
  for (size_t j = 0; j < low_.size(); ++j) {
    bid[j] = std::clamp(bid[j], low_[j], high_[j]);
    if (atoms_.empty()) continue;
    const auto after = std::upper_bound(atoms_[j].begin(), atoms_[j].end(), bid[j]);
    bid[j] = after == atoms_[j].begin() ? atoms_[j][0] : *(after - 1);
  }
}

Probe::Probe(const Mechanism& mechanism, const Setting& setting, int bidder, const double* values,
             int profiles)
    : mechanism_(mechanism),
      setting_(setting),
      bidders_(setting.bidders()),
      items_(setting.items()),
      bidder_(bidder),
      profiles_(profiles),
      values_(values, values + int64_t{profiles} * bidders_ * items_) {}

// Calls body(first, count) for slices of bids: memory is bounded, and a search can be stopped.
template <typename Body>
void Probe::for_slices(const Bids& bids, Body body) {
  const int64_t size = int64_t{bidders_} * items_;
  const auto count = static_cast<int64_t>(bids.profile.size());
  const int64_t fastest = mechanism_.profiles_at_once();  // and on multiples of these
  int64_t slice = std::max<int64_t>(1, std::max(kNumbersAtOnce, fastest * kFewNumbers) / size);
  if (slice > fastest) slice -= slice % fastest;
  for (int64_t first = 0; first < count; first += slice) {
    throw_if_stopped();
    const int64_t rows = std::min(slice, count - first);
    all_bids_.resize(rows * size);
    for (int64_t k = 0; k < rows; ++k) {
      std::copy_n(values(bids.profile[first + k]), size, all_bids_.begin() + k * size);
      std::copy_n(bids.rows.begin() + (first + k) * items_, items_,
                  all_bids_.begin() + k * size + int64_t{bidder_} * items_);
    }
    body(first, rows);
  }
}

void Probe::utility(const Bids& bids, std::vector<double>& utility) {
  utility.resize(bids.profile.size());
  for_slices(bids, [&](int64_t first, int64_t count) {
    allocation_.resize(all_bids_.size());
    payments_.resize(count * bidders_);
    run_checked(mechanism_, count, bidders_, items_, all_bids_.data(), allocation_.data(),
                payments_.data());
    check_limits(mechanism_, setting_, count, allocation_.data(), payments_.data());
    for (int64_t k = 0; k < count; ++k) {
      const double* share = allocation_.data() + (k * bidders_ + bidder_) * items_;
      const double* value = truth(bids.profile[first + k]);
      double sum = -payments_[k * bidders_ + bidder_];
      for (int j = 0; j < items_; ++j) sum += share[j] * value[j];
      utility[first + k] = sum;
    }
  });
}

void Probe::gradient(const Bids& bids, std::vector<double>& utility,
                     std::vector<double>& gradient) {
  utility.resize(bids.profile.size());
  gradient.resize(bids.rows.size());
  for_slices(bids, [&](int64_t first, int64_t count) {
    own_values_.resize(count * items_);
    for (int64_t k = 0; k < count; ++k) {
      std::copy_n(truth(bids.profile[first + k]), items_, own_values_.begin() + k * items_);
    }
    mechanism_.utility_gradient(count, bidders_, items_, bidder_, own_values_.data(),
                                all_bids_.data(), utility.data() + first,
                                gradient.data() + first * items_);
  });
}

void BestLie::take(const Bids& bids, const std::vector<double>& utilities) {
  const size_t items = bid.size() / utility.size();
  for (size_t k = 0; k < utilities.size(); ++k) {
    const size_t profile = bids.profile[k];
    if (utilities[k] <= utility[profile]) continue;
    utility[profile] = utilities[k];
    std::copy_n(bids.rows.begin() + k * items, items, bid.begin() + profile * items);
  }
}

}  // namespace agora::auctions

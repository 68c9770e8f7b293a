#include "auctions/audit/seeds.h"

#include <algorithm>
#include <cmath>

#include "auctions/mechanism.h"
#include "base/signals.h"
#include "base/thread_pool.h"

namespace agora::auctions {
namespace {

constexpr int kDraws = 32;  // fresh values, and bids of other profiles
// Points per item of a grid of all items, by their number: in every profile, or once for all.
constexpr int kGrid[] = {0, 257, 33, 9, 5, 4, 3}, kMenu[] = {0, 8193, 257, 41, 15, 9, 6};
constexpr int64_t kMenuPerProfile = 1024;  // points of a menu are no more than this each
constexpr int kMostTogether = std::size(kGrid) - 1;
constexpr int kLine = 65;                      // most points of a grid of one item,
constexpr int kLines = 520;                    // and of all of them
constexpr int64_t kNumbers = 1'000'000;        // bids of all bidders in grids of one item
constexpr size_t kPeaks = 16;                  // of a grid
constexpr double kNear = 0.25, kBeside = 0.1;  // in scales
// Times the end of a search, where values have none: beside the last one all other bids vanish.
constexpr double kBeyond[] = {10, 1e6, 1e17};
constexpr double kFarthest = 1e30;  // networks are of single precision

// Steps to the neighbours in a grid, single items first; across corners too for a few items.
std::vector<std::vector<int>> neighbours(int items) {
  std::vector<std::vector<int>> result;
  for (int j = 0; j < items; ++j) {
    for (int sign : {-1, 1}) {
      result.emplace_back(items, 0);
      result.back()[j] = sign;
    }
  }
  const int count = items == 2 ? 9 : items == 3 ? 27 : 0;
  for (int k = 0; k < count; ++k) {
    std::vector<int> step;
    int moves = 0;
    for (int j = 0, rest = k; j < items; ++j, rest /= 3) {
      step.push_back(rest % 3 - 1);
      moves += step[j] != 0;
    }
    if (moves > 1) result.push_back(step);
  }
  return result;
}

// Seeds of one bidder in the probe's profiles, one profile after the other.
class Collector {
 public:
  Collector(Probe& probe, const BidSpace& space, int bidder)
      : probe_(probe), space_(space), n_(probe.bidders()), m_(probe.items()), bidder_(bidder) {}

  void go_to(int profile) {
    profile_ = profile;
    truth_ = probe_.truth(profile);
  }
  template <typename Value>
  void add(double apart, Value value) {  // of each item
    add_bid(open_, value);
    open_apart_.push_back(apart);
  }
  void take(double apart, const double* bid, double utility) {  // whose utility is known
    seeds_.bids.add(profile_, bid, m_);
    seeds_.utility.push_back(utility);
    seeds_.apart.push_back(apart);
  }
  // The highest peaks of a grid whose utilities are given.
  template <typename BidAt>
  void take_peaks(const Grid& grid, const double* utility, BidAt bid) {
    std::vector<size_t> peaks = grid.peaks(utility);
    std::stable_sort(peaks.begin(), peaks.end(),
                     [&](size_t a, size_t b) { return utility[a] > utility[b]; });
    peaks.resize(std::min(peaks.size(), kPeaks));
    for (size_t k : peaks) take(1.5 / (grid.points - 1), bid(k), utility[k]);
  }
  // value(j, k) is the bid for item j at point k.
  template <typename Value>
  void add_grid(const Grid& grid, Value value) {
    Bids bids;
    const auto size = static_cast<int64_t>(grid.size());
    for (int64_t k = 0; k < size; ++k) add_bid(bids, [&](int j) { return value(j, k); });
    probe_.utility(bids, utility_);
    take_peaks(grid, utility_.data(), [&](size_t k) { return bids.rows.data() + k * m_; });
  }

  // All items together.
  void add_box() {
    if (m_ > kMostTogether) return;
    const Grid grid{kGrid[m_], m_};
    std::vector<int64_t> stride(m_, 1);
    for (int j = 1; j < m_; ++j) stride[j] = stride[j - 1] * grid.points;
    add_grid(grid, [&](int j, int64_t k) {
      return space_.level(j, static_cast<double>(k / stride[j] % grid.points) / (grid.points - 1));
    });
  }
  // Each item with the truth elsewhere; only some items of very many.
  void add_lines() {
    if (m_ == 1) return;
    const int64_t affordable = kNumbers / (int64_t{n_} * m_);
    const auto points =
        static_cast<int>(std::clamp<int64_t>(std::min<int64_t>(affordable, kLines) / m_, 3, kLine));
    const int64_t lines = std::max<int64_t>(8, affordable / points);
    for (int item = 0; item < m_; item += static_cast<int>((m_ + lines - 1) / lines)) {
      add_grid({points, 1}, [&](int j, int64_t k) {
        return j == item ? space_.level(j, static_cast<double>(k) / (points - 1)) : truth_[j];
      });
    }
  }
  void add_usual() {
    for (double scale : {1.0, 0.5, 0.8, 0.95, 0.99, 1.01, 1.05, 1.25, 2.0}) {
      add(kNear, [&](int j) { return scale * truth_[j]; });
    }
    add(kNear, [&](int j) { return space_.low(j); });
    add(kNear, [&](int j) { return space_.high(j); });
  }
  // Just beside each other bidder, the highest of them, and the highest on one item.
  void add_others_bids() {
    if (n_ < 2) return;
    constexpr int kMost = 64;  // bidders, and items
    const double* values = probe_.values(profile_);
    std::vector<double> highest(m_, 0.0);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < m_ && i != bidder_; ++j) {
        highest[j] = std::max(highest[j], values[i * m_ + j]);
      }
    }
    for (double beside : {1 - 1e-6, 1 + 1e-6}) {
      for (int i = 0; i < n_; i += (n_ + kMost - 1) / kMost) {
        if (i != bidder_) add(kBeside, [&](int j) { return beside * values[i * m_ + j]; });
      }
      add(kBeside, [&](int j) { return beside * highest[j]; });
      for (int item = 0; item < m_; item += (m_ + kMost - 1) / kMost) {
        add(kBeside, [&](int j) { return j == item ? beside * highest[j] : truth_[j]; });
      }
    }
  }

  // Where values have no end, nor have bids: all items, or one of them, far beyond the search.
  void add_beyond() {
    constexpr int kMost = 16;  // items
    for (const double beyond : kBeyond) {
      const auto far = [&](int j) {
        const double high = space_.high(j);
        return space_.unbounded(j) ? std::max(high, std::min(beyond * high, kFarthest)) : truth_[j];
      };
      add_freely(far);
      for (int item = 0; item < m_ && m_ > 1; item += (m_ + kMost - 1) / kMost) {
        if (space_.unbounded(item)) {
          add_freely([&](int j) { return j == item ? far(j) : truth_[j]; });
        }
      }
    }
  }

  Seeds finish() {
    probe_.utility(open_, utility_);
    for (size_t k = 0; k < utility_.size(); ++k) {
      profile_ = open_.profile[k];
      take(open_apart_[k], open_.rows.data() + k * m_, utility_[k]);
    }
    return std::move(seeds_);
  }

 private:
  template <typename Value>
  void add_bid(Bids& bids, Value value) {
    bid_.resize(m_);
    for (int j = 0; j < m_; ++j) bid_[j] = value(j);
    space_.project(bid_.data());
    bids.add(profile_, bid_.data(), m_);
  }
  template <typename Value>
  void add_freely(Value value) {
    bid_.resize(m_);
    for (int j = 0; j < m_; ++j) bid_[j] = value(j);
    open_.add(profile_, bid_.data(), m_);
    open_apart_.push_back(kNear);
  }

  Probe& probe_;
  const BidSpace& space_;
  int n_, m_, bidder_;
  int profile_ = 0;
  const double* truth_ = nullptr;
  Bids open_;  // whose utility is not known yet
  std::vector<double> open_apart_;
  Seeds seeds_;
  std::vector<double> bid_, utility_;
};

}  // namespace

size_t Grid::size() const {
  size_t count = 1;
  for (int j = 0; j < items; ++j) count *= points;
  return count;
}

std::vector<size_t> Grid::peaks(const double* utilities) const {
  struct Step {
    std::vector<int> by;
    int64_t offset;
  };
  std::vector<Step> steps;
  for (std::vector<int>& by : neighbours(items)) {
    int64_t offset = 0, stride = 1;
    for (int j = 0; j < items; ++j, stride *= points) offset += by[j] * stride;
    steps.push_back({std::move(by), offset});
  }
  std::vector<size_t> result;
  std::vector<int> place(items, 0);
  for (size_t k = 0; k < size(); ++k) {
    bool peak = true;
    for (size_t s = 0; s < steps.size() && peak; ++s) {
      bool inside = true;
      for (int j = 0; j < items && inside; ++j) {
        inside = place[j] + steps[s].by[j] >= 0 && place[j] + steps[s].by[j] < points;
      }
      peak = !inside || utilities[k + steps[s].offset] <= utilities[k];
    }
    if (peak) result.push_back(k);
    for (int j = 0; j < items && ++place[j] == points; ++j) place[j] = 0;
  }
  return result;
}

SeedMaker::SeedMaker(const Mechanism& mechanism, const Setting& setting,
                     const AuditOptions& options)
    : setting_(setting), options_(options) {
  const int m = setting.items();
  const bool discrete = BidSpace(setting, 0).discrete();
  if (setting.bidders() > 1 || m > kMostTogether || discrete) return;
  const auto each =
      std::pow(static_cast<double>(kMenuPerProfile * options.regret_profiles), 1.0 / m);
  list_menu(mechanism, {static_cast<int>(std::clamp<double>(each, kGrid[m], kMenu[m])), m});
}

void SeedMaker::list_menu(const Mechanism& mechanism, Grid grid) {
  constexpr int64_t kSlice = 1024;
  const auto size = static_cast<int64_t>(grid.size());
  const int m = grid.items;
  const BidSpace space(setting_, 0);
  menu_ = {grid, std::vector<double>(size * m), std::vector<double>(size * m),
           std::vector<double>(size)};
  for (int64_t k = 0; k < size; ++k) {
    int64_t rest = k;
    for (int j = 0; j < m; ++j, rest /= grid.points) {
      menu_->bids[k * m + j] =
          space.level(j, static_cast<double>(rest % grid.points) / (grid.points - 1));
    }
  }
  default_pool().run((size + kSlice - 1) / kSlice, [&](int64_t part) {
    throw_if_stopped();
    const int64_t first = part * kSlice;
    run_checked(mechanism, std::min(kSlice, size - first), 1, m, menu_->bids.data() + first * m,
                menu_->allocation.data() + first * m, menu_->payments.data() + first);
  });
}

Seeds SeedMaker::seeds(Probe& probe, const BidSpace& space, int64_t first, int bidder) const {
  const int m = probe.items();
  Collector collector(probe, space, bidder);
  const int64_t others = setting_.held_out() > 0 ? setting_.held_out() : options_.regret_profiles;
  std::vector<double> other(int64_t{probe.bidders()} * m), utility;
  Bids draws;
  add_draws(setting_, space, options_.seed + 1, first, probe, bidder, kDraws, draws);
  for (int profile = 0; profile < probe.profiles(); ++profile) {
    collector.go_to(profile);
    if (menu_) {
      const double* truth = probe.truth(profile);
      utility.resize(menu_->payments.size());
      for (size_t k = 0; k < utility.size(); ++k) {
        double sum = -menu_->payments[k];
        for (int j = 0; j < m; ++j) sum += menu_->allocation[k * m + j] * truth[j];
        utility[k] = sum;
      }
      collector.take_peaks(menu_->grid, utility.data(),
                           [&](size_t k) { return menu_->bids.data() + k * m; });
    } else {
      collector.add_box();
    }
    collector.add_lines();
    for (int k = 0; k < kDraws; ++k) {
      const double* drawn = draws.rows.data() + (int64_t{profile} * kDraws + k) * m;
      collector.add(kNear, [&](int j) { return drawn[j]; });
      setting_.sample_held_out(options_.seed, kEvaluationStream, (first + profile + k + 1) % others,
                               1, other.data());
      collector.add(kNear, [&](int j) { return other[bidder * m + j]; });
    }
    collector.add_usual();
    collector.add_others_bids();
    if (space.endless()) collector.add_beyond();
  }
  return collector.finish();
}

}  // namespace agora::auctions

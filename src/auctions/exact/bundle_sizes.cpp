#include "auctions/exact/bundle_sizes.h"

#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions {
namespace {

void check_size(const Parameters& parameters) {
  if (BundleSizes::table_size(parameters.bidders, parameters.items) > BundleSizes::kMostEntries) {
    throw user_error("mechanism '{}': {}x{} is too large for boosts by numbers of items",
                     parameters.mechanism, parameters.bidders, parameters.items);
  }
}

}  // namespace

// C(m + n + 1, n + 1)
double BundleSizes::table_size(int bidders, int items) {
  double size = 1.0;
  for (int k = 1; k <= std::min(bidders + 1, items); ++k) {
    size *= static_cast<double>(bidders + items + 2 - k) / k;
  }
  return size;
}

BundleSizes::BundleSizes(int bidders, int items) : bidders_(bidders), items_(items) {
  std::map<std::vector<int>, int64_t> places;
  without_.resize(bidders);
  std::vector<int> k(bidders, 0);
  const auto add = [&] {
    const auto place = static_cast<int64_t>(places.size());
    for (int i = 0; i < bidders; ++i) {
      if (k[i] == 0) {
        without_[i].push_back(place);
        before_.push_back(-1);
        continue;
      }
      --k[i];
      before_.push_back(places.at(k));
      ++k[i];
    }
    sizes_.insert(sizes_.end(), k.begin(), k.end());
    places.emplace(k, place);
  };
  for (int sold = 0; sold <= items; ++sold) {
    std::fill(k.begin(), k.end(), 0);
    k.back() = sold;
    for (bool more = true; more;) {
      add();
      // The next one of the same sum: the last bidder that has some after the first gives one on.
      int i = bidders - 1;
      while (i > 0 && k[i] == 0) --i;
      more = i > 0;
      if (!more) break;
      const int rest = k[i] - 1;
      k[i] = 0;
      ++k[i - 1];
      k.back() = rest;
    }
    ends_.push_back(static_cast<int64_t>(places.size()));
  }
}

std::string size_refusal(const Setting& setting) {
  if (BundleSizes::table_size(setting.bidders(), setting.items()) <= BundleSizes::kMostEntries)
    return "";
  return fmt::format(
      "its tables of who gets how many items have more than {} entries; entry-fees and tariff take "
      "any number of items",
      BundleSizes::kMostEntries);
}

void never_rising(const BundleSizes& sizes, std::vector<double>& boosts,
                  std::vector<int64_t>& from) {
  from.resize(boosts.size());
  std::iota(from.begin(), from.end(), int64_t{0});
  for (int64_t k = 0; k < sizes.count(); ++k) {
    for (int i = 0; i < sizes.bidders(); ++i) {
      const int64_t before = sizes.before(k, i);
      if (before >= 0 && boosts[before] < boosts[k]) {
        boosts[k] = boosts[before];
        from[k] = from[before];
      }
    }
  }
}

namespace {

// The boosts of two bidders by what one of them and the other gets.
using TwoBoosts = std::function<double(int own, int others)>;

// With H(S) the best that the other can make of what S leaves, boosts included: whether H(S + j +
// j')
// + H(S) >= H(S + j) + H(S + j'), for every S of `own` items and whatever the other bids. Let t1
// and t2 items be best for it on the right, c of them the same and x of them j' or j: then c items
// and any of the others but those x can be what it gets beside S + j + j', the rest goes with S.
bool complements(int own, int items, const TwoBoosts& boost) {
  for (int t1 = 0; own + 1 + t1 <= items; ++t1) {
    for (int t2 = t1; own + 1 + t2 <= items; ++t2) {
      for (int c = 0; c <= t1; ++c) {
        for (int x = 0; x <= (t1 > c) + (t2 > c); ++x) {
          if (own + 2 + t1 + t2 - c - x > items) continue;
          double left = -std::numeric_limits<double>::infinity();
          for (int t = c; t <= t1 + t2 - c - x; ++t) {
            left = std::max(left, boost(own + 2, t) + boost(own, t1 + t2 - t));
          }
          if (left < boost(own + 1, t1) + boost(own + 1, t2)) return false;
        }
      }
    }
  }
  return true;
}

bool every_sale_alike(const BundleSizes& sizes, const std::vector<double>& boosts) {
  for (int64_t k = 0; k < sizes.count(); ++k) {
    double sum = boosts[0];
    for (int i = 0; sizes.items() > 0 && i < sizes.bidders(); ++i) {
      sum += sizes.sizes(k)[i] * (boosts[1 + sizes.bidders() - 1 - i] - boosts[0]);
    }
    if (boosts[k] != sum) return false;
  }
  return true;
}

}  // namespace

bool admits_markups(const BundleSizes& sizes, const std::vector<double>& boosts) {
  if (every_sale_alike(sizes, boosts)) return true;
  if (sizes.bidders() != 2) return false;
  // Ways k of s items begin after those of fewer, in the order of what the first bidder has.
  const auto at = [&](int first, int second) {
    const int sold = first + second;
    return boosts[(sold == 0 ? 0 : sizes.up_to(sold - 1)) + first];
  };
  for (int own = 0; own + 2 <= sizes.items(); ++own) {
    if (!complements(own, sizes.items(), at)) return false;
    if (!complements(own, sizes.items(), [&](int a, int b) { return at(b, a); })) return false;
  }
  return true;
}

SharedBoosts shared_boosts(const BundleSizes& sizes, bool same_bidders) {
  std::map<std::vector<int>, int64_t> known;
  SharedBoosts shared;
  for (int64_t k = 0; k < sizes.count(); ++k) {
    std::vector<int> own(sizes.sizes(k), sizes.sizes(k) + sizes.bidders());
    if (same_bidders) std::sort(own.begin(), own.end());
    const auto [place, fresh] = known.try_emplace(own, static_cast<int64_t>(known.size()));
    if (fresh) shared.sold.push_back(std::accumulate(own.begin(), own.end(), 0));
    shared.of.push_back(place->second);
  }
  return shared;
}

SizeMaximiser::SizeMaximiser(Parameters parameters)
    : parameters_((check_size(parameters), std::move(parameters))),
      sizes_(bidders(), items()),
      weights_(tensor(parameters_, "weights", {bidders()}).values),
      terms_(tensor(parameters_, "terms", {bidders(), items()}).values),
      boosts_(tensor(parameters_, "boosts", {sizes_.count()}).values) {
  const auto refuse = [&](const char* what) {
    throw user_error("mechanism '{}': {}", name(), what);
  };
  for (const double weight : weights_) {
    if (!(weight > 0.0)) refuse("weights must be positive");
  }
  for (const double term : terms_) {
    if (!(term <= 0.0)) refuse("terms must not be above 0");
  }
  for (int64_t k = 0; k < sizes_.count(); ++k) {
    for (int i = 0; i < bidders(); ++i) {
      const int64_t before = sizes_.before(k, i);
      if (before >= 0 && boosts_[before] < boosts_[k]) refuse("boosts must not rise");
    }
  }
}

void SizeMaximiser::run(int64_t profiles, int n, int m, const double* bids, double* allocation,
                        double* payments) const {
  CHECK(accepts(n, m), "{} is {}x{}, the bids are {}x{}", name(), bidders(), items(), n, m);
  using Tables = WorthTables<double>;
  constexpr int kLanes = Tables::kLanes;
  Tables tables(sizes_);
  const int size = n * m;
  std::vector<double> worths(static_cast<size_t>(size) * kLanes);
  std::vector<double> own(n), shares(n), asked(n);  // of what each gets: bids, worth, terms
  std::vector<double> without(static_cast<size_t>(n) * kLanes);
  std::fill(allocation, allocation + profiles * size, 0.0);
  for (int64_t first = 0; first < profiles; first += kLanes) {
    throw_if_stopped();
    const int lanes = static_cast<int>(std::min<int64_t>(kLanes, profiles - first));
    for (int e = 0; e < size; ++e) {
      for (int l = 0; l < lanes; ++l) {
        worths[e * kLanes + l] = weights_[e / m] * bids[(first + l) * size + e] + terms_[e];
      }
    }
    tables.fill(worths.data());
    const double* worth = tables.of_all();
    const auto raise = [&](int64_t k, double* best, int64_t* which) {
      for (int l = 0; l < kLanes; ++l) {
        const double sum = worth[k * kLanes + l] + boosts_[k];
        if (sum > best[l]) best[l] = sum, which[l] = k;
      }
    };
    double most[kLanes];
    int64_t chosen[kLanes] = {}, unused[kLanes];
    std::fill_n(most, kLanes, -std::numeric_limits<double>::infinity());
    std::fill(without.begin(), without.end(), -std::numeric_limits<double>::infinity());
    for (int64_t k = 0; k < sizes_.count(); ++k) raise(k, most, chosen);
    for (int i = 0; i < n; ++i) {
      for (const int64_t k : sizes_.without(i)) raise(k, &without[i * kLanes], unused);
    }
    for (int l = 0; l < lanes; ++l) {
      const int64_t profile = first + l;
      for (std::vector<double>* each : {&own, &shares, &asked}) {
        std::fill(each->begin(), each->end(), 0.0);
      }
      tables.each_sale(chosen[l], l, [&](int i, int j) {
        const int e = i * m + j;
        allocation[profile * size + e] = 1.0;
        own[i] += bids[profile * size + e];
        shares[i] += worths[e * kLanes + l];
        asked[i] += terms_[e];
      });
      for (int i = 0; i < n; ++i) {
        // Its own bids are in no sum: one so large that others vanish beside it pays the same.
        double now = boosts_[chosen[l]] + asked[i];
        for (int k = 0; k < n; ++k) {
          if (k != i) now += shares[k];
        }
        const double price = (without[i * kLanes + l] - now) / weights_[i];
        payments[profile * n + i] = std::clamp(price, 0.0, own[i]);  // rounding only
      }
    }
  }
}

}  // namespace agora::auctions

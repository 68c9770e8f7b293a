#include "auctions/audit/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/thread_pool.h"

namespace agora::auctions {

BidSpace::BidSpace(const Setting& setting, int bidder) {
  bool all_discrete = !setting.laws().table;
  const std::vector<Law>& laws = setting.laws().rows[bidder]->marginals();
  for (int j = 0; j < setting.items(); ++j) {
    const Interval range = setting.search_domain(bidder, j);
    low_.push_back(setting.laws().table ? 0.0 : range.low);
    high_.push_back(range.high);
    all_discrete = all_discrete && !laws[j]->atoms().empty();
  }
  for (int j = 0; all_discrete && j < setting.items(); ++j) {
    atoms_.emplace_back();
    for (const Atom& atom : laws[j]->atoms()) atoms_[j].push_back(atom.value);
  }
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
      bidders_(setting.bidders()),
      items_(setting.items()),
      bidder_(bidder),
      profiles_(profiles),
      values_(values, values + int64_t{profiles} * bidders_ * items_) {}

void Probe::fill(const Bids& bids) {
  const int64_t size = int64_t{bidders_} * items_;
  const auto count = static_cast<int64_t>(bids.profile.size());
  all_bids_.resize(count * size);
  for (int64_t k = 0; k < count; ++k) {
    std::copy_n(values(bids.profile[k]), size, all_bids_.begin() + k * size);
    std::copy_n(bids.rows.begin() + k * items_, items_,
                all_bids_.begin() + k * size + int64_t{bidder_} * items_);
  }
}

void Probe::utility(const Bids& bids, std::vector<double>& utility) {
  const auto count = static_cast<int64_t>(bids.profile.size());
  fill(bids);
  allocation_.resize(all_bids_.size());
  payments_.resize(count * bidders_);
  utility.resize(count);
  mechanism_.run(count, bidders_, items_, all_bids_.data(), allocation_.data(), payments_.data());
  for (int64_t k = 0; k < count; ++k) {
    const double* share = allocation_.data() + (k * bidders_ + bidder_) * items_;
    const double* value = truth(bids.profile[k]);
    double sum = -payments_[k * bidders_ + bidder_];
    for (int j = 0; j < items_; ++j) sum += share[j] * value[j];
    CHECK(std::isfinite(sum), "{} gave a utility that is not finite", mechanism_.name());
    utility[k] = sum;
  }
}

void Probe::gradient(const Bids& bids, std::vector<double>& utility,
                     std::vector<double>& gradient) {
  const auto count = static_cast<int64_t>(bids.profile.size());
  fill(bids);
  own_values_.resize(bids.rows.size());
  for (int64_t k = 0; k < count; ++k) {
    std::copy_n(truth(bids.profile[k]), items_, own_values_.begin() + k * items_);
  }
  utility.resize(count);
  gradient.resize(bids.rows.size());
  mechanism_.utility_gradient(count, bidders_, items_, bidder_, own_values_.data(),
                              all_bids_.data(), utility.data(), gradient.data());
}

void Best::take(const Bids& bids, const std::vector<double>& utilities) {
  const size_t items = bid.size() / utility.size();
  for (size_t k = 0; k < utilities.size(); ++k) {
    const size_t profile = bids.profile[k];
    if (utilities[k] <= utility[profile]) continue;
    utility[profile] = utilities[k];
    std::copy_n(bids.rows.begin() + k * items, items, bid.begin() + profile * items);
  }
}

namespace {

// The first `keep(count)` bids of each profile, highest utility first.
template <typename Keep>
std::vector<size_t> best_of_each(const Bids& bids, const std::vector<double>& utilities,
                                 Keep keep) {
  std::vector<std::vector<size_t>> of_profile;
  for (size_t k = 0; k < bids.profile.size(); ++k) {
    const size_t profile = bids.profile[k];
    if (profile >= of_profile.size()) of_profile.resize(profile + 1);
    of_profile[profile].push_back(k);
  }
  std::vector<size_t> result;
  for (std::vector<size_t>& order : of_profile) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return utilities[a] > utilities[b]; });
    order.resize(std::min(order.size(), keep(order.size())));
    result.insert(result.end(), order.begin(), order.end());
  }
  return result;
}

}  // namespace

Bids best_starts(const Bids& bids, const std::vector<double>& utilities, int items, size_t keep) {
  Bids result;
  for (const size_t k : best_of_each(bids, utilities, [=](size_t) { return keep; })) {
    result.add(bids.profile[k], bids.rows.data() + k * items, items);
  }
  return result;
}

void pattern_search(Probe& probe, const BidSpace& space, Bids starts, double step, double smallest,
                    int rounds, Best& best) {
  const auto m = static_cast<size_t>(probe.items());
  const size_t count = starts.profile.size();
  std::vector<double> utility, trial_utility, steps(count, step);
  probe.utility(starts, utility);
  best.take(starts, utility);
  for (int round = 0; round < rounds; ++round) {
    std::vector<size_t> active;
    Bids trial;
    for (size_t s = 0; s < count; ++s) {
      if (steps[s] < smallest) continue;
      active.push_back(s);
      for (size_t move = 0; move < 2 * m; ++move) {
        const size_t j = move / 2;
        trial.add(starts.profile[s], starts.rows.data() + s * m, probe.items());
        double* bid = trial.rows.data() + trial.rows.size() - m;
        bid[j] += (move % 2 == 0 ? steps[s] : -steps[s]) * space.width(static_cast<int>(j));
        space.project(bid);
      }
    }
    if (active.empty()) return;
    probe.utility(trial, trial_utility);
    best.take(trial, trial_utility);
    for (size_t a = 0; a < active.size(); ++a) {
      const size_t s = active[a];
      const auto first = trial_utility.begin() + a * 2 * m;
      const auto top = std::max_element(first, first + 2 * m);
      if (*top > utility[s]) {
        utility[s] = *top;
        const size_t row = top - trial_utility.begin();
        std::copy_n(trial.rows.begin() + row * m, m, starts.rows.begin() + s * m);
      } else {
        steps[s] *= 0.5;
      }
    }
  }
}

void adam_search(Probe& probe, const BidSpace& space, Bids starts, const Ascent& options,
                 Best& best) {
  constexpr double kFirst = 0.9, kSecond = 0.999, kEpsilon = 1e-8;
  constexpr size_t kFewest = 4;  // starts of a profile
  const auto m = static_cast<size_t>(probe.items());
  std::vector<double> utility, gradient;
  std::vector<double> mean(starts.rows.size(), 0.0), square(starts.rows.size(), 0.0);
  std::vector<double> reached(starts.profile.size(), -1e300);
  for (int step = 1; step <= options.steps; ++step) {
    probe.gradient(starts, utility, gradient);
    best.take(starts, utility);
    for (size_t s = 0; s < utility.size(); ++s) reached[s] = std::max(reached[s], utility[s]);
    if (options.drop && (step == 10 || step == 30 || step == 60 || step == 120)) {
      std::vector<size_t> kept = best_of_each(
          starts, reached, [](size_t count) { return count > kFewest ? (count + 1) / 2 : count; });
      std::sort(kept.begin(), kept.end());
      for (size_t to = 0; to < kept.size(); ++to) {
        reached[to] = reached[kept[to]];
        starts.profile[to] = starts.profile[kept[to]];
        for (auto* rows : {&starts.rows, &gradient, &mean, &square}) {
          std::copy_n(rows->begin() + kept[to] * m, m, rows->begin() + to * m);
        }
      }
      reached.resize(kept.size());
      starts.profile.resize(kept.size());
      for (auto* rows : {&starts.rows, &gradient, &mean, &square}) rows->resize(kept.size() * m);
    }
    const double share =
        std::pow(options.final_share, (step - 1.0) / std::max(1, options.steps - 1));
    const double first_bias = 1 - std::pow(kFirst, step), second_bias = 1 - std::pow(kSecond, step);
    for (size_t e = 0; e < starts.rows.size(); ++e) {
      mean[e] = kFirst * mean[e] + (1 - kFirst) * gradient[e];
      square[e] = kSecond * square[e] + (1 - kSecond) * gradient[e] * gradient[e];
      const double unit = options.relative ? space.width(static_cast<int>(e % m)) : 1.0;
      starts.rows[e] += options.rate * share * unit * (mean[e] / first_bias) /
                        (std::sqrt(square[e] / second_bias) + kEpsilon);
    }
    for (size_t s = 0; s < starts.profile.size(); ++s) space.project(starts.rows.data() + s * m);
  }
  probe.utility(starts, utility);
  best.take(starts, utility);
}

void add_draws(const Setting& setting, const BidSpace& space, uint64_t seed, int64_t first,
               const Probe& probe, int bidder, int count, Bids& bids) {
  const int n = setting.bidders(), m = setting.items();
  std::vector<double> drawn(int64_t{count} * n * m);
  for (int profile = 0; profile < probe.profiles(); ++profile) {
    setting.sample(seed, kSearchStream, (first + profile) * count, count, drawn.data());
    for (int k = 0; k < count; ++k) {
      bids.add(profile, drawn.data() + (int64_t{k} * n + bidder) * m, m);
      space.project(bids.rows.data() + bids.rows.size() - m);
    }
  }
}

std::vector<double> all_bids(const BidSpace& space, int items, size_t most) {
  size_t count = 1;
  for (const auto& atoms : space.atoms()) {
    count *= atoms.size();
    if (count > most) return {};
  }
  std::vector<double> bids;
  for (size_t k = 0; k < count; ++k) {
    size_t rest = k;
    for (int j = 0; j < items; ++j) {
      bids.push_back(space.atoms()[j][rest % space.atoms()[j].size()]);
      rest /= space.atoms()[j].size();
    }
  }
  return bids;
}

RegretTest gather_regret(
    const Mechanism& mechanism, const Setting& setting, const AuditOptions& options,
    const std::function<void(Probe&, const BidSpace&, int64_t, int, Best&)>& search) {
  const int n = setting.bidders(), m = setting.items();
  int64_t profiles = options.regret_profiles;
  if (setting.held_out() > 0) profiles = std::min(profiles, setting.held_out());
  std::vector<BidSpace> spaces;
  for (int i = 0; i < n; ++i) spaces.emplace_back(setting, i);
  std::vector<double> gains(profiles * n);
  constexpr int64_t kPerPart = 8;
  const int64_t parts = (profiles + kPerPart - 1) / kPerPart;
  struct Worst {
    double gain = -1;
    int64_t profile = 0;
    int bidder = 0;
    std::vector<double> values, bid;
  };
  std::vector<Worst> worst(parts);
  default_pool().run(parts, [&](int64_t part) {
    const int64_t first = part * kPerPart;
    const auto count = static_cast<int>(std::min(profiles - first, kPerPart));
    std::vector<double> values(int64_t{count} * n * m), honest;
    setting.sample_held_out(options.seed, kEvaluationStream, first, count, values.data());
    for (int i = 0; i < n; ++i) {
      Probe probe(mechanism, setting, i, values.data(), count);
      Bids truths;
      for (int k = 0; k < count; ++k) truths.add(k, probe.truth(k), m);
      probe.utility(truths, honest);
      Best best{honest, truths.rows};
      search(probe, spaces[i], first, i, best);
      for (int k = 0; k < count; ++k) {
        const double gain = best.utility[k] - honest[k];
        gains[(first + k) * n + i] = gain;
        if (gain <= worst[part].gain) continue;
        const auto bid = best.bid.begin() + int64_t{k} * m;
        worst[part] = {
            gain, first + k, i, {probe.values(k), probe.values(k) + n * m}, {bid, bid + m}};
      }
    }
  });
  RegretTest result;
  result.per_bidder.assign(n, 0.0);
  for (size_t e = 0; e < gains.size(); ++e) {
    result.mean += gains[e] / static_cast<double>(gains.size());
    result.per_bidder[e % n] += gains[e] / static_cast<double>(profiles);
  }
  const Worst* top = &worst[0];
  for (const Worst& each : worst) top = each.gain > top->gain ? &each : top;
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

}  // namespace agora::auctions

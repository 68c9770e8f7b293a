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

Probe::Probe(const Mechanism& mechanism, const Setting& setting, int bidder, const double* values)
    : mechanism_(mechanism),
      bidders_(setting.bidders()),
      items_(setting.items()),
      bidder_(bidder),
      values_(values, values + int64_t{bidders_} * items_) {}

void Probe::fill(const std::vector<double>& bids) {
  const int64_t size = int64_t{bidders_} * items_;
  const auto count = static_cast<int64_t>(bids.size()) / items_;
  all_bids_.resize(count * size);
  for (int64_t k = 0; k < count; ++k) {
    std::copy(values_.begin(), values_.end(), all_bids_.begin() + k * size);
    std::copy(bids.begin() + k * items_, bids.begin() + (k + 1) * items_,
              all_bids_.begin() + k * size + int64_t{bidder_} * items_);
  }
}

void Probe::utility(const std::vector<double>& bids, std::vector<double>& utility) {
  const auto count = static_cast<int64_t>(bids.size()) / items_;
  fill(bids);
  allocation_.resize(all_bids_.size());
  payments_.resize(count * bidders_);
  utility.resize(count);
  mechanism_.run(count, bidders_, items_, all_bids_.data(), allocation_.data(), payments_.data());
  for (int64_t k = 0; k < count; ++k) {
    const double* share = allocation_.data() + (k * bidders_ + bidder_) * items_;
    double sum = -payments_[k * bidders_ + bidder_];
    for (int j = 0; j < items_; ++j) sum += share[j] * truth()[j];
    CHECK(std::isfinite(sum), "{} gave a utility that is not finite", mechanism_.name());
    utility[k] = sum;
  }
}

void Probe::gradient(const std::vector<double>& bids, std::vector<double>& utility,
                     std::vector<double>& gradient) {
  const auto count = static_cast<int64_t>(bids.size()) / items_;
  fill(bids);
  own_values_.resize(bids.size());
  for (int64_t k = 0; k < count; ++k) {
    std::copy(truth(), truth() + items_, own_values_.begin() + k * items_);
  }
  utility.resize(count);
  gradient.resize(bids.size());
  mechanism_.utility_gradient(count, bidders_, items_, bidder_, own_values_.data(),
                              all_bids_.data(), utility.data(), gradient.data());
}

void Best::take(const std::vector<double>& bids, const std::vector<double>& utilities) {
  const size_t items = bid.size();
  for (size_t k = 0; k < utilities.size(); ++k) {
    if (utilities[k] <= utility) continue;
    utility = utilities[k];
    bid.assign(bids.begin() + k * items, bids.begin() + (k + 1) * items);
  }
}

std::vector<double> best_starts(const std::vector<double>& bids,
                                const std::vector<double>& utilities, int items, size_t keep) {
  std::vector<size_t> order(utilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  keep = std::min(keep, order.size());
  std::partial_sort(order.begin(), order.begin() + keep, order.end(), [&](size_t a, size_t b) {
    return utilities[a] != utilities[b] ? utilities[a] > utilities[b] : a < b;
  });
  std::vector<double> result;
  for (size_t k = 0; k < keep; ++k) {
    result.insert(result.end(), bids.begin() + order[k] * items,
                  bids.begin() + (order[k] + 1) * items);
  }
  return result;
}

void pattern_search(Probe& probe, const BidSpace& space, std::vector<double> starts, double step,
                    double smallest, int rounds, Best& best) {
  const auto m = static_cast<size_t>(probe.items());
  const size_t count = starts.size() / m;
  std::vector<double> utility, trial, trial_utility, steps(count, step);
  probe.utility(starts, utility);
  best.take(starts, utility);
  for (int round = 0; round < rounds; ++round) {
    std::vector<size_t> active;
    trial.clear();
    for (size_t s = 0; s < count; ++s) {
      if (steps[s] < smallest) continue;
      active.push_back(s);
      for (size_t move = 0; move < 2 * m; ++move) {
        const size_t j = move / 2;
        trial.insert(trial.end(), starts.begin() + s * m, starts.begin() + (s + 1) * m);
        trial[trial.size() - m + j] +=
            (move % 2 == 0 ? steps[s] : -steps[s]) * space.width(static_cast<int>(j));
        space.project(trial.data() + trial.size() - m);
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
        std::copy(trial.begin() + row * m, trial.begin() + (row + 1) * m, starts.begin() + s * m);
      } else {
        steps[s] *= 0.5;
      }
    }
  }
}

void adam_search(Probe& probe, const BidSpace& space, std::vector<double> starts,
                 const Ascent& options, Best& best) {
  constexpr double kFirst = 0.9, kSecond = 0.999, kEpsilon = 1e-8;
  const auto m = static_cast<size_t>(probe.items());
  std::vector<double> utility, gradient, mean(starts.size(), 0.0), square(starts.size(), 0.0);
  std::vector<double> reached(starts.size() / m, -1e300);
  for (int step = 1; step <= options.steps; ++step) {
    probe.gradient(starts, utility, gradient);
    best.take(starts, utility);
    for (size_t s = 0; s < utility.size(); ++s) reached[s] = std::max(reached[s], utility[s]);
    const bool check = options.drop && (step == 10 || step == 30 || step == 60 || step == 120);
    if (check && reached.size() > 4) {
      std::vector<size_t> order(reached.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t a, size_t b) { return reached[a] > reached[b]; });
      order.resize((order.size() + 1) / 2);
      std::sort(order.begin(), order.end());
      for (size_t to = 0; to < order.size(); ++to) {
        reached[to] = reached[order[to]];
        for (auto* rows : {&starts, &gradient, &mean, &square}) {
          std::copy(rows->begin() + order[to] * m, rows->begin() + (order[to] + 1) * m,
                    rows->begin() + to * m);
        }
      }
      reached.resize(order.size());
      for (auto* rows : {&starts, &gradient, &mean, &square}) rows->resize(order.size() * m);
    }
    const double share =
        std::pow(options.final_share, (step - 1.0) / std::max(1, options.steps - 1));
    const double first_bias = 1 - std::pow(kFirst, step), second_bias = 1 - std::pow(kSecond, step);
    for (size_t e = 0; e < starts.size(); ++e) {
      mean[e] = kFirst * mean[e] + (1 - kFirst) * gradient[e];
      square[e] = kSecond * square[e] + (1 - kSecond) * gradient[e] * gradient[e];
      const double unit = options.relative ? space.width(static_cast<int>(e % m)) : 1.0;
      starts[e] += options.rate * share * unit * (mean[e] / first_bias) /
                   (std::sqrt(square[e] / second_bias) + kEpsilon);
    }
    for (size_t s = 0; s < starts.size() / m; ++s) space.project(starts.data() + s * m);
  }
  probe.utility(starts, utility);
  best.take(starts, utility);
}

void add_draws(const Setting& setting, const BidSpace& space, uint64_t seed, int64_t profile,
               int bidder, int count, std::vector<double>& bids) {
  const int n = setting.bidders(), m = setting.items();
  std::vector<double> drawn(int64_t{count} * n * m);
  setting.sample(seed, kSearchStream, profile * count, count, drawn.data());
  for (int k = 0; k < count; ++k) {
    const double* row = drawn.data() + (int64_t{k} * n + bidder) * m;
    bids.insert(bids.end(), row, row + m);
    space.project(bids.data() + bids.size() - m);
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
    std::vector<double> values(n * m), utility;
    for (int64_t k = part * kPerPart; k < std::min(profiles, (part + 1) * kPerPart); ++k) {
      setting.sample_held_out(options.seed, kEvaluationStream, k, 1, values.data());
      for (int i = 0; i < n; ++i) {
        Probe probe(mechanism, setting, i, values.data());
        Best best{0.0, std::vector<double>(probe.truth(), probe.truth() + m)};
        probe.utility(best.bid, utility);
        const double honest = best.utility = utility[0];
        search(probe, spaces[i], k, i, best);
        const double gain = best.utility - honest;
        gains[k * n + i] = gain;
        if (gain > worst[part].gain) worst[part] = {gain, k, i, probe.values(), best.bid};
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

#include "auctions/audit/search.h"

#include <algorithm>
#include <cmath>

namespace agora::auctions {

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

constexpr int64_t kNumbersPerStart = 1'000'000;  // bids of all bidders that one start may cost
constexpr size_t kItemsAtOnce = 8;               // in a pattern search that cannot afford more

// Where a pattern search is, and the trials of one round around it.
struct Walk {
  double step;
  size_t block = 0;          // the items to try next
  bool moved = false;        // since the first block
  std::vector<double> last;  // the last success, (items)
};

bool is_zero(const std::vector<double>& move) {
  return std::all_of(move.begin(), move.end(), [](double each) { return each == 0.0; });
}

}  // namespace

Bids best_starts(const Bids& bids, const std::vector<double>& utilities, int items, size_t keep) {
  Bids result;
  for (const size_t k : best_of_each(bids, utilities, [=](size_t) { return keep; })) {
    result.add(bids.profile[k], bids.rows.data() + k * items, items);
  }
  return result;
}

Bids varied_starts(const Bids& bids, const std::vector<double>& utilities,
                   const std::vector<double>& apart, const BidSpace& space, size_t keep) {
  const int m = space.items();
  Bids result;
  size_t first = 0;  // of this profile in the result
  for (const size_t k : best_of_each(bids, utilities, [](size_t count) { return count; })) {
    const double* bid = bids.rows.data() + k * m;
    if (first < result.profile.size() && result.profile[first] != bids.profile[k]) {
      first = result.profile.size();
    }
    if (result.profile.size() - first == keep) continue;
    bool near = false;
    for (size_t taken = first; taken < result.profile.size() && !near; ++taken) {
      double distance = 0.0;
      for (int j = 0; j < m; ++j) {
        distance =
            std::max(distance, std::abs(bid[j] - result.rows[taken * m + j]) / space.scale(j));
      }
      near = distance < apart[k];
    }
    if (!near) result.add(bids.profile[k], bid, m);
  }
  return result;
}

void pattern_search(Probe& probe, const BidSpace& space, Bids starts, const Pattern& options,
                    BestLie& best) {
  const auto m = static_cast<size_t>(probe.items());
  const size_t count = starts.profile.size();
  const int64_t affordable =
      std::max<int64_t>(2 * kItemsAtOnce, kNumbersPerStart / (probe.bidders() * probe.items()));
  const bool whole = options.rounds * 2 * static_cast<int64_t>(m) <= affordable;
  const size_t at_once = whole ? m : std::min(m, kItemsAtOnce),
               blocks = (m + at_once - 1) / at_once;
  const int64_t rounds = std::min<int64_t>(options.rounds * static_cast<int64_t>(blocks),
                                           affordable / (2 * static_cast<int64_t>(at_once)));
  std::vector<double> utility, trial_utility;
  std::vector<Walk> walks(count, {.step = options.step, .last = std::vector<double>(m, 0.0)});
  probe.utility(starts, utility);
  best.take(starts, utility);
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<size_t> owner;  // of each trial
    Bids trial;
    for (size_t s = 0; s < count; ++s) {
      const Walk& walk = walks[s];
      if (walk.step < options.smallest) continue;
      const auto add = [&](auto move) {  // of each item, in bids
        owner.push_back(s);
        trial.add(starts.profile[s], starts.rows.data() + s * m, probe.items());
        double* bid = trial.rows.data() + trial.rows.size() - m;
        for (size_t j = 0; j < m; ++j) bid[j] += move(j);
        space.project(bid);
      };
      const size_t first = walk.block * at_once, last = std::min(m, first + at_once);
      const auto reach = [&](size_t j) { return walk.step * space.scale(static_cast<int>(j)); };
      for (size_t item = first; item < last; ++item) {
        for (const double sign : {1.0, -1.0}) {
          add([&](size_t j) { return j == item ? sign * reach(j) : 0.0; });
        }
      }
      if (!options.diagonals || m == 1) continue;
      for (const double sign : {1.0, -1.0}) {  // another diagonal in every round
        add([&](size_t j) {
          if (j < first || j >= last) return 0.0;
          return (round >> (j - first)) % 2 == 0 ? sign * reach(j) : -sign * reach(j);
        });
      }
      if (!is_zero(walk.last)) add([&](size_t j) { return walk.last[j]; });
    }
    if (owner.empty()) return;
    probe.utility(trial, trial_utility);
    best.take(trial, trial_utility);
    for (size_t a = 0; a < owner.size();) {
      const size_t s = owner[a];
      size_t top = a;
      for (; a < owner.size() && owner[a] == s; ++a) {
        if (trial_utility[a] > trial_utility[top]) top = a;
      }
      Walk& walk = walks[s];
      if (trial_utility[top] > utility[s]) {
        utility[s] = trial_utility[top];
        for (size_t j = 0; j < m; ++j) {
          walk.last[j] = trial.rows[top * m + j] - starts.rows[s * m + j];
          starts.rows[s * m + j] = trial.rows[top * m + j];
        }
        walk.moved = true;
      } else {
        walk.last.assign(m, 0.0);
      }
      walk.block = (walk.block + 1) % blocks;
      if (walk.block > 0) continue;
      if (!walk.moved) walk.step *= 0.5;
      walk.moved = false;
    }
  }
}

Bids adam_search(Probe& probe, const BidSpace& space, Bids starts, const Ascent& options,
                 BestLie& best) {
  constexpr double kFirst = 0.9, kSecond = 0.999, kEpsilon = 1e-8;
  constexpr size_t kFewest = 4;  // starts of a profile
  const auto m = static_cast<size_t>(probe.items());
  std::vector<double> utility, gradient;
  std::vector<double> mean(starts.rows.size(), 0.0), square(starts.rows.size(), 0.0);
  std::vector<double> reached(starts.profile.size(), -1e300), place = starts.rows;
  const auto look = [&] {
    best.take(starts, utility);
    for (size_t s = 0; s < utility.size(); ++s) {
      if (utility[s] <= reached[s]) continue;
      reached[s] = utility[s];
      std::copy_n(starts.rows.begin() + s * m, m, place.begin() + s * m);
    }
  };
  for (int step = 1; step <= options.steps; ++step) {
    probe.gradient(starts, utility, gradient);
    look();
    if (step == 10 || step == 30 || step == 60 || step == 120) {
      std::vector<size_t> kept = best_of_each(
          starts, reached, [](size_t count) { return count > kFewest ? (count + 1) / 2 : count; });
      std::sort(kept.begin(), kept.end());
      for (size_t to = 0; to < kept.size(); ++to) {
        reached[to] = reached[kept[to]];
        starts.profile[to] = starts.profile[kept[to]];
        for (auto* rows : {&starts.rows, &gradient, &mean, &square, &place}) {
          std::copy_n(rows->begin() + kept[to] * m, m, rows->begin() + to * m);
        }
      }
      reached.resize(kept.size());
      starts.profile.resize(kept.size());
      for (auto* rows : {&starts.rows, &gradient, &mean, &square, &place}) {
        rows->resize(kept.size() * m);
      }
    }
    const double share =
        std::pow(options.final_share, (step - 1.0) / std::max(1, options.steps - 1));
    const double first_bias = 1 - std::pow(kFirst, step), second_bias = 1 - std::pow(kSecond, step);
    for (size_t e = 0; e < starts.rows.size(); ++e) {
      mean[e] = kFirst * mean[e] + (1 - kFirst) * gradient[e];
      square[e] = kSecond * square[e] + (1 - kSecond) * gradient[e] * gradient[e];
      const double unit = space.scale(static_cast<int>(e % m));
      starts.rows[e] += options.rate * share * unit * (mean[e] / first_bias) /
                        (std::sqrt(square[e] / second_bias) + kEpsilon);
    }
    for (size_t s = 0; s < starts.profile.size(); ++s) space.project(starts.rows.data() + s * m);
  }
  probe.utility(starts, utility);
  look();
  starts.rows = std::move(place);
  return starts;
}

void add_draws(const Setting& setting, const BidSpace& space, uint64_t seed, int64_t first,
               const Probe& probe, int bidder, int count, Bids& bids) {
  const int n = setting.bidders(), m = setting.items();
  std::vector<double> drawn(int64_t{n} * m);
  for (int profile = 0; profile < probe.profiles(); ++profile) {
    for (int k = 0; k < count; ++k) {
      setting.sample(seed, kSearchStream, (first + profile) * count + k, 1, drawn.data());
      bids.add(profile, drawn.data() + int64_t{bidder} * m, m);
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

}  // namespace agora::auctions

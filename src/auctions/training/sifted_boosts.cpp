// A maximiser for every number of bidders who could win. Each is learned on its own first: hot,
// they would lose those who could not. Then the others are seen without those. One who could not
// win is seen by the maximiser of those who could and itself, so that prices that would let it in
// can fall that far. And a floor has a slope too: what the others pay more or less without one who
// is there.
#include <cmath>

#include "auctions/exact/sieve.h"
#include "auctions/training/boosts.h"

namespace agora::auctions {
namespace {

constexpr double kReach = 8;  // temperatures from a floor: farther away it hardly matters

// Profiles (k, bidders, m) of which all bidders pay, or the first alone.
struct Seen {
  std::vector<float> all, first;
};

// Bidders who are almost at a floor, others there: the others alone, and with it as the last.
struct AtFloors {
  std::vector<float> without, with;
  struct Bidder {
    Sieve::Margin margin;
    std::vector<int> order;  // of its items
  };
  std::vector<Bidder> bidders;
};

class SiftedMaximisers : public BoostTrainer {
 public:
  SiftedMaximisers(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
                   uint64_t seed)
      : BoostTrainer(kind, setting, recipe, seed, levels_of(setting)) {}

 private:
  static std::vector<BoostLevel> levels_of(const Setting& setting) {
    std::vector<BoostLevel> levels;
    for (int s = 1; s <= setting.bidders(); ++s) {
      levels.push_back({BoostShape(setting, s), level_suffix(s)});
    }
    return levels;
  }

  std::vector<BoostSlopes> slopes(const std::vector<HardBoosts>& hard,
                                  std::span<const float> values) const override {
    const int n = setting_.bidders();
    std::vector<BoostSlopes> found;
    for (const BoostLevel& level : levels()) found.emplace_back(level.shape);
    const auto learn = [&](int s, const std::vector<float>& from, int payers) {
      found[s].add(boost_slopes(levels()[s].shape, hard[s], from, temperature(), payers));
    };
    if (2 * iteration_ < recipe_.iterations) {
      for (int s = 0; s < n; ++s) {
        learn(s, of_first(s + 1, values), s + 1);
        if (s + 1 < n) found[s].revenue = 0;  // the log is of one auction: that of all
      }
      return found;
    }
    Sieve sieve = sieve_of(hard);
    std::vector<Seen> seen(n);
    std::vector<AtFloors> edges(n);  // by the number of others
    sift(sieve, values, seen, edges);
    for (int s = 0; s < n; ++s) {
      learn(s, seen[s].all, s + 1);
      learn(s, seen[s].first, 1);
    }
    for (int s = 0; s + 1 < n; ++s) raise_floors(hard, sieve, s, edges[s], found);
    return found;
  }

  std::vector<float> of_first(int bidders, std::span<const float> values) const {
    std::vector<float> first;
    for (auto profile = values.begin(); profile != values.end(); profile += profile_size()) {
      first.insert(first.end(), profile, profile + bidders * setting_.items());
    }
    return first;
  }

  Sieve sieve_of(const std::vector<HardBoosts>& hard) const {
    Sieve sieve(setting_.items());
    for (size_t s = 0; s < hard.size(); ++s) {
      std::vector<double> terms = hard[s].terms;
      terms.resize(setting_.items());  // everybody's
      sieve.add(levels()[s].shape.sizes, hard[s].boosts, std::move(terms));
    }
    return sieve;
  }

  void sift(Sieve& sieve, std::span<const float> values, std::vector<Seen>& seen,
            std::vector<AtFloors>& edges) const {
    const int n = setting_.bidders(), m = setting_.items();
    const double unit = levels()[0].shape.unit;
    std::vector<double> bids(static_cast<size_t>(n) * m);
    std::vector<Sieve::Margin> margins(n);
    for (const float* profile = values.data(); profile < values.data() + values.size();
         profile += profile_size()) {
      for (size_t e = 0; e < bids.size(); ++e) bids[e] = profile[e] / unit;
      int able = 0;
      for (int i = 0; i < n; ++i) {
        margins[i] = sieve.margin(&bids[i * m]);
        able += margins[i].value > 0;
      }
      const auto put = [&](int i, std::vector<float>& to) {
        to.insert(to.end(), profile + i * m, profile + (i + 1) * m);
      };
      const auto put_others = [&](int i, std::vector<float>& to) {
        for (int other = 0; other < n; ++other) {
          if (other != i && margins[other].value > 0) put(other, to);
        }
      };
      for (int i = 0; i < n; ++i) {
        const bool out = margins[i].value <= 0;
        const int others = able - !out;
        if (out) {
          put(i, seen[others].first);
          put_others(i, seen[others].first);
        } else {
          put(i, seen[able - 1].all);
        }
        if (others == 0 || std::abs(margins[i].value) > kReach * temperature()) continue;
        AtFloors& edge = edges[others - 1];
        put_others(i, edge.without);
        put_others(i, edge.with);
        put(i, edge.with);
        edge.bidders.push_back({margins[i], sieve.order(&bids[i * m], margins[i].level)});
      }
    }
  }

  // Of those who see `level` + 1 others: whether a bidder could win is smoothed.
  void raise_floors(const std::vector<HardBoosts>& hard, const Sieve& sieve, int level,
                    const AtFloors& edge, std::vector<BoostSlopes>& found) const {
    std::vector<double> without(edge.bidders.size()), with(edge.bidders.size());
    const auto others_pay = [&](int s, const std::vector<float>& from, std::vector<double>& to) {
      boost_slopes(levels()[s].shape, hard[s], from, temperature(), level + 1, to);
    };
    others_pay(level, edge.without, without);
    others_pay(level + 1, edge.with, with);
    for (size_t k = 0; k < edge.bidders.size(); ++k) {
      const Sieve::Margin& margin = edge.bidders[k].margin;
      const double steep = 1 / (2 + 2 * std::cosh(margin.value / temperature()));
      const double slope = steep / temperature() * (without[k] - with[k]);
      const Sieve::Floor& floor = sieve.floor(margin.level, margin.items);
      const BoostShape& shape = levels()[margin.level].shape;
      const std::vector<int64_t>& from = hard[margin.level].from;
      BoostSlopes& to = found[margin.level];
      to.boosts[shape.shared.of[from[floor.without]]] += slope;
      to.boosts[shape.shared.of[from[floor.with]]] -= slope;
      for (int j = 0; !shape.plain() && j < margin.items; ++j) {
        to.terms[shape.term(0, edge.bidders[k].order[j])] -= slope;
      }
    }
  }

  void put(const BoostLevel& level, const Parameters& own, Parameters& all) const override {
    all.tensors["boosts" + level.suffix] = own.tensors.at("boosts");
    std::vector<double> terms = own.tensors.at("terms").values;
    terms.resize(static_cast<size_t>(all.items));  // everybody's
    all.tensors["terms" + level.suffix] = {{all.items}, std::move(terms)};
  }
};

}  // namespace

std::unique_ptr<ResumableTrainer> sifted_trainer(const MechanismKind& kind, const Setting& setting,
                                                 const Recipe& recipe, uint64_t seed) {
  return std::make_unique<SiftedMaximisers>(kind, setting, recipe, seed);
}

}  // namespace agora::auctions

// Two-part tariffs by what the others bid: truthful, rational and feasible by construction. A
// bidder's bids choose among offers that they cannot change, nothing at no cost is one of them, and
// as no price is below the highest other bid, only the highest bidder can want an item.
#include "auctions/tariff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "auctions/engine_pool.h"
#include "auctions/lanes.h"
#include "auctions/limits.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/trainer.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions::kind_tariff {
namespace {

constexpr int kRowsPerUpdate = 8192, kCellsPerUpdate = 10 * kRowsPerUpdate;  // a cell per item
constexpr int kManyItems = 8;    // tariffs differ by more there, and so does what they are worth
constexpr int kManyCells = 200;  // a step of the weights moves offers by more there

// The network of one thread, and the choice among what it offers.
struct Engine : TariffOffers {
  Engine(const Parameters& parameters, const TariffViews& seen)
      : TariffOffers(parameters, seen, To::kHighest), views(seen), wanted(m), utility(tariffs) {}

  // The same where a bidder takes one item at most: a fee is part of the item's price. What is
  // dearer than its budget costs the budget, unless somebody else bids more than that.
  void choose_one(int64_t row, double unit, double budget, const double* bids, double* allocation,
                  double* payment) const {
    int item = -1;
    double best = 0.0;
    for (int j = 0; j < m; ++j) {
      if (wins[row * m + j] == 0 || thresholds[row * m + j] > budget) continue;
      for (int64_t k = 0; k < tariffs; ++k) {
        const double above = double{markups(row, j)[k]} + double{fees(row)[k]};
        const double price = std::min(thresholds[row * m + j] + unit * above, budget);
        if (!std::isfinite(above)) {
          *payment = std::numeric_limits<double>::quiet_NaN();
          return;
        }
        const double gain = bids[j] - price;
        if (gain < best) continue;
        if (gain > best || price > *payment) item = j, best = gain, *payment = price;
      }
    }
    if (item >= 0) allocation[item] = 1.0;
  }

  // The best offer of one row for its bids (m).
  void choose(int64_t row, double unit, const double* bids, double* allocation, double* payment) {
    const float *fee = fees(row), *markup = markups(row, 0);
    size_t items = 0;
    for (int j = 0; j < m; ++j) {  // without a jump on who wins, which nobody could guess
      wanted[items] = {j, thresholds[row * m + j], bids[j], markup + j * tariffs};
      items += wins[row * m + j];
    }
    if (items == 0) return;
    const std::span<const Wanted> wants(wanted.data(), items);
    double most[kFour] = {}, unknown[kFour] = {};  // not 0 if an offer is not finite
    in_fours(tariffs, [&]<typename Real>(int64_t k) {
      Real gain = -unit * load<Real>(fee + k);
      Real asked = gain;  // finite if the offer is, and no price
      for (const Wanted& item : wants) {
        const Real above = load<Real>(item.markup + k);
        gain += larger(Real{}, item.bid - (item.threshold + unit * above));
        asked -= above;
      }
      store(&utility[k], gain);
      store(most, larger(load<Real>(most), gain));
      store(unknown, load<Real>(unknown) + (asked - asked));
    });
    const double best = *std::max_element(most, most + kFour);
    const bool finite = std::all_of(unknown, unknown + kFour, [](double x) { return x == 0.0; });
    double price = 0.0;
    int64_t chosen = -1;
    // Of equals the one that pays more, or the first.
    where_equal(utility.data(), tariffs, best, [&](int64_t k) {
      double paid = unit * fee[k];
      for (const Wanted& item : wants) {
        const double asked = item.threshold + unit * item.markup[k];
        if (item.bid >= asked) paid += asked;
      }
      if (paid > price || (chosen < 0 && best > 0.0)) chosen = k, price = paid;
    });
    *payment = finite ? price : std::numeric_limits<double>::quiet_NaN();
    if (chosen < 0) return;
    for (const Wanted& item : wants) {
      const bool taken = item.bid >= item.threshold + unit * item.markup[chosen];
      allocation[item.number] = taken ? 1.0 : 0.0;
    }
  }

  struct Wanted {  // an item on which the bidder bids most
    int number;
    double threshold, bid;
    const float* markup;  // (K)
  };
  TariffViews views;
  std::vector<Wanted> wanted;   // (m)
  std::vector<double> utility;  // (K)
};

class Tariff : public Mechanism {
 public:
  explicit Tariff(Parameters parameters)
      : parameters_(std::move(parameters)),
        one_each_(parameters_.limits != Limits{}),  // budgets are for one item each
        any_size_(!one_each_ && all_are_alike(parameters_)) {
    engines_.keep(bidders(), items(), engine(bidders(), items()));
  }

  const std::string& name() const override { return parameters_.mechanism; }
  int bidders() const override { return parameters_.bidders; }
  int items() const override { return parameters_.items; }
  Parameters parameters() const override { return parameters_; }
  bool accepts(int n, int m) const override {
    return (n == bidders() && m == items()) || (any_size_ && n > 0 && m > 0);
  }

  void run(int64_t profiles, int n, int m, const double* bids, double* allocation,
           double* payments) const override {
    CHECK(accepts(n, m), "{} is {}x{}, the bids are {}x{}", name(), bidders(), items(), n, m);
    const auto engine = engines_.borrow(n, m, [&] { return this->engine(n, m); });
    const int64_t size = int64_t{n} * m;
    std::fill(allocation, allocation + profiles * size, 0.0);
    std::fill(payments, payments + profiles * n, 0.0);
    for (int64_t first = 0; first < profiles; first += engine->profiles) {
      throw_if_stopped();
      const int64_t count = std::min<int64_t>(engine->profiles, profiles - first);
      engine->offer(count, engine->views, bids + first * size);
      for (int64_t row = 0; row < count * n; ++row) {
        const int64_t at = first * n + row;
        const double unit = engine->views.unit(), *own = bids + at * m;
        one_each_ ? engine->choose_one(row, unit, budget_of(parameters_.limits, row % n), own,
                                       allocation + at * m, payments + at)
                  : engine->choose(row, unit, own, allocation + at * m, payments + at);
      }
    }
  }

 private:
  std::unique_ptr<Engine> engine(int n, int m) const {
    const Parameters sized = of_size(parameters_, n, m);
    return std::make_unique<Engine>(sized, TariffViews(sized));
  }

  Parameters parameters_;
  bool one_each_, any_size_;
  mutable EnginePool<Engine> engines_;
};

Recipe best(const Setting& setting) {
  Recipe recipe{.hidden = 2, .width = 32, .iterations = 20'000};
  const int n = setting.bidders(), m = setting.items();
  recipe.batch = std::max(256, std::min(kRowsPerUpdate, kCellsPerUpdate / m) / n);
  recipe.rate = 1e-3;
  recipe.final_rate = 1e-5;
  recipe.averaging = 0.998;
  if (few_bidders_and_many_items(setting)) {
    recipe.tariffs = 32;
    recipe.temperature = 0.01;  // a hotter start makes one tariff of many, and so do
    recipe.rate = 3e-4;         // larger steps
  } else if (n > 1 && m >= kManyItems) {
    recipe.temperature = 0.02;
  }
  if (n * m > kManyCells) {  // offers that a step or a hot start puts far below 0 are lost
    recipe.iterations = 6'000;
    recipe.rate = 1e-4;
  }
  if (laws_of(setting).table) {  // rows come again and again: longer it learns them by heart
    recipe.iterations = 1'500;
    recipe.batch = 1'000;
    recipe.averaging = 0.99;
  }
  return recipe;
}

}  // namespace

MechanismKind entry_tariff() {
  MechanismKind kind{
      .name = "tariff",
      .summary = "two-part tariffs by the others' bids: learned, and truthful by construction",
      .pays =
          "a fee and, for each item it takes, the highest other bid plus a markup; it gets the "
          "tariff, of those the others' bids make for it, that is best for it",
      .trial_setting = "2x3 uniform(0,1)",
      .refusal = [](const Setting&) { return ""; },
      .takes_unit_demand = [](const Setting&) { return true; },
      .takes_budgets =
          [](const Setting& setting) { return setting.items() == 1 || setting.unit_demand(); },
      .design = {},
      .make = [](Parameters p) { return std::make_unique<Tariff>(std::move(p)); }};
  NetworkKind network{.record = {}};
  network.fresh = [](const MechanismKind& own, const Setting& setting, int hidden, int width,
                     uint64_t seed) {
    return fresh_tariffs(own, setting, tariff_size_for(setting, hidden, width, Recipe{}.tariffs),
                         seed);
  };
  network.training =
      std::make_shared<TrainingKind>(TrainingKind{.trainer = tariff_trainer,
                                                  .published = nullptr,
                                                  .best = best,
                                                  .parameters = tariff_parameters()});
  kind.network = std::make_shared<NetworkKind>(std::move(network));
  return kind;
}

}  // namespace agora::auctions::kind_tariff

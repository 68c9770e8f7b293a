// Tariffs on an affine maximiser: a class that contains both. The others' bids make fees and
// markups, which a bidder pays on top of the maximiser's prices, or it gets nothing. It gets the
// tariff and the items that are best for it, of those that it has won; why these are the best of
// all is in docs/auctions.md. Where boosts do not admit markups there are fees alone.
#include <cmath>

#include "auctions/engine_pool.h"
#include "auctions/exact/tariff_choice.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/tariff.h"
#include "auctions/training/trainer.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::auctions::kind_ama_tariff {
namespace {

constexpr int kLanes = TariffChoice::kLanes;

class AmaTariff : public Mechanism {
 public:
  explicit AmaTariff(Parameters parameters)
      : base_(parameters), views_(parameters), parameters_(std::move(parameters)) {
    engines_.keep(bidders(), items(), engine());
  }

  const std::string& name() const override { return parameters_.mechanism; }
  int bidders() const override { return parameters_.bidders; }
  int items() const override { return parameters_.items; }
  Parameters parameters() const override { return parameters_; }

  void run(int64_t profiles, int n, int m, const double* bids, double* allocation,
           double* payments) const override {
    CHECK(accepts(n, m), "{} is {}x{}, the bids are {}x{}", name(), bidders(), items(), n, m);
    base_.run(profiles, n, m, bids, allocation, payments);
    const auto offers = engines_.borrow(n, m, [this] { return engine(); });
    TariffChoice choice(base_);
    const int64_t size = int64_t{n} * m;
    for (int64_t first = 0; first < profiles; first += offers->profiles) {
      throw_if_stopped();
      const int64_t count = std::min<int64_t>(offers->profiles, profiles - first);
      offers->offer(count, views_, bids + first * size);
      for (int64_t k = 0; k < count; k += kLanes) {
        const int lanes = static_cast<int>(std::min<int64_t>(kLanes, count - k));
        const int64_t at = first + k;
        choose(choice, lanes, *offers, k, bids + at * size, allocation + at * size,
               payments + at * n);
      }
    }
  }

 private:
  // What the base gave and asked, `lanes` profiles, becomes what is bought at which price.
  void choose(TariffChoice& choice, int lanes, const TariffOffers& offers, int64_t profile,
              const double* bids, double* allocation, double* payments) const {
    const int n = bidders(), m = items();
    choice.look(lanes, bids);
    std::vector<double> markups(static_cast<size_t>(m) * kLanes);
    std::vector<uint8_t> wanted(static_cast<size_t>(m) * kLanes);
    for (int i = 0; i < n; ++i) {
      double best[kLanes], price[kLanes];
      std::fill_n(best, kLanes, -1.0);
      for (int64_t k = 0; k < offers.tariffs; ++k) {
        const auto row = [&](int l) { return (profile + l) * n + i; };
        for (int l = 0; choice.markups() && l < lanes; ++l) {
          for (int j = 0; j < m; ++j) {
            const float markup = offers.markups(row(l), j)[k];
            markups[j * kLanes + l] = views_.unit() * markup;
          }
        }
        choice.consider(i, markups.data());
        for (int l = 0; l < lanes; ++l) {
          const double fee = views_.unit() * offers.fees(row(l))[k];
          const int number = choice.best_number(l);
          const double gain = choice.gain(number, l) - fee;
          if (!(gain >= 0.0) || gain <= best[l]) continue;
          best[l] = gain;
          price[l] = fee + (choice.markups() ? choice.price(number, l) : payments[l * n + i]);
          // Without markups the best is what it won, or something as good.
          for (int j = 0; j < m; ++j) wanted[j * kLanes + l] = choice.markups() ? 0 : 1;
          if (!choice.markups()) continue;
          choice.each_item(number, l, [&](int j) { wanted[j * kLanes + l] = 1; });
        }
      }
      for (int l = 0; l < lanes; ++l) {
        double* own = allocation + (int64_t{l} * n + i) * m;
        const double* bid = bids + (int64_t{l} * n + i) * m;
        double worth = 0.0;
        for (int j = 0; j < m; ++j) {
          if (best[l] < 0.0 || wanted[j * kLanes + l] == 0) own[j] = 0.0;
          worth += own[j] * bid[j];
        }
        payments[l * n + i] = worth <= 0.0 ? 0.0 : std::min(worth, price[l]);
      }
    }
  }

  std::unique_ptr<TariffOffers> engine() const {
    return std::make_unique<TariffOffers>(parameters_, views_, TariffOffers::To::kAll);
  }

  SizeMaximiser base_;
  TariffViews views_;
  Parameters parameters_;
  mutable EnginePool<TariffOffers> engines_;
};

Recipe best(const Setting& setting) {
  Recipe recipe = auctions::recipe("learned-ama", setting);
  recipe.iterations *= 2;  // half of them for the base
  recipe.hidden = 2;
  recipe.width = 32;
  recipe.tariffs = setting.bidders() == 2 ? 4 : 1;
  recipe.averaging = 0.99;
  return recipe;
}

}  // namespace

MechanismKind entry_ama_tariff() {
  MechanismKind kind{
      .name = "ama-tariff",
      .summary = "learned tariffs on a learned affine maximiser, truthful by construction",
      .pays =
          "what its presence costs the others, in weighted values and boosts, and a fee and "
          "markups that the others' bids make",
      .trial_setting = "2x2 uniform(0,1)",
      .refusal = size_refusal,
      .design = {},
      .make = [](Parameters p) { return std::make_unique<AmaTariff>(std::move(p)); }};
  NetworkKind network{.record = {}};
  network.fresh = [](const MechanismKind& own, const Setting& setting, int hidden, int width,
                     uint64_t seed) {
    const int tariffs = best(setting).tariffs;
    return fresh_ama_tariffs(own, setting, tariff_size_for(setting, hidden, width, tariffs), seed);
  };
  network.training =
      std::make_shared<TrainingKind>(TrainingKind{.trainer = ama_tariff_trainer,
                                                  .published = nullptr,
                                                  .best = best,
                                                  .parameters = tariff_parameters()});
  kind.network = std::make_shared<NetworkKind>(std::move(network));
  kind.refines = true;
  return kind;
}

}  // namespace agora::auctions::kind_ama_tariff

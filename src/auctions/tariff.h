#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "auctions/mechanism.h"
#include "compute/operations.h"
#include "compute/program.h"

// Two-part tariffs. A bidder is offered, by what the others bid, tariffs of a fee and a price of
// every item: its threshold, the highest other bid, and a markup that is not negative.
namespace agora::auctions {

struct TariffSize {
  int64_t tariffs = 16, hidden = 2, width = 32;
  bool same_items = true, same_bidders = true;  // those who are not have biases of their own
  bool levels = false;  // markups see how far a threshold is above the reserve, not only below
  bool fees_of_items = false;  // fees see sums over the items directly, not only through a network
};

// The network of the offers. Items that are alike are treated alike, whatever their order.
class TariffNet {
 public:
  // What a bidder sees of the others for an item: the threshold and, if `mean`, their mean bid.
  struct Inputs {
    compute::Tensor others;   // (rows, m, features), about in [0, 1]
    compute::Tensor reserve;  // (rows, m): the item's reserve less the threshold, in units of money
    compute::Tensor bidder;   // (rows): its number
  };
  // In units of money; what is below 0 stands for 0.
  struct Offers {
    compute::Tensor fees;     // (rows, K)
    compute::Tensor markups;  // (rows, m, K)
  };

  // At the start no tariff has a fee, and all have the reserves.
  TariffNet(compute::Graph& graph, int64_t bidders, int64_t items, int64_t features,
            const TariffSize& size);
  Offers operator()(const Inputs& inputs) const;

  // The same where a row is a profile and only the highest bidder of an item is offered it:
  // others (rows, n, m, features), reserve and `won`, which is 1 for that bidder, (rows, n, m);
  // fees (rows, n, K), markups (rows, m, K).
  Offers to_highest(compute::Tensor others, compute::Tensor reserve, compute::Tensor won) const;
  // (rows, n, m, ...) of the highest bidder: (rows, m, ...).
  static compute::Tensor of_highest(compute::Tensor x, compute::Tensor won);

  static Inputs declare(compute::Graph& graph, int64_t items, int64_t features);

 private:
  // Of what a bidder sees (..., m, features), whatever the order of items: (..., width).
  compute::Tensor together(compute::Tensor others) const;
  compute::Tensor context(compute::Tensor together, compute::Tensor bidder) const;
  compute::Tensor fees(compute::Tensor together, compute::Tensor context) const;
  // Of features (..., m, features), reserve (..., m, 1) and what is told to the items.
  compute::Tensor markups(compute::Tensor others, compute::Tensor reserve,
                          compute::Tensor told) const;

  compute::Tensor item_weight_, item_bias_, offer_weight_, offer_context_, offer_bias_;
  compute::Tensors context_weights_, context_biases_;
  compute::Tensor fee_weight_, fee_bias_, fee_items_, markup_weight_, markup_bias_, slope_, bidder_;
  bool levels_;
};

// What bidders see of each other, as numbers for the network.
class TariffViews {
 public:
  explicit TariffViews(const Parameters& parameters);
  int64_t features() const { return features_; }
  double unit() const { return unit_; }

  // Of one profile (n, m), a row per bidder: `thresholds` (n, m), whether a bidder is the one who
  // may have an item in `wins` (n, m), and the network's inputs `others` (n, m, features) and
  // `reserve` (n, m).
  void look(const double* bids, double* thresholds, uint8_t* wins, float* others,
            float* reserve) const;

 private:
  int bidders_, items_;
  int64_t features_;
  double unit_;
  std::vector<double> low_, range_, reserves_;  // (n, m)
  bool saturating_;
};

// What the network of saved parameters offers for bids, with the memory it works in: for one
// thread. Offers are rounded to single precision.
class TariffOffers {
 public:
  // Who can want an item: anybody, or the highest bidder alone.
  enum class To { kAll, kHighest };
  TariffOffers(const Parameters& parameters, const TariffViews& views, To whom);
  // bids (count, n, m), at most `profiles` of them; a row of what is offered is a bidder.
  void offer(int64_t count, const TariffViews& views, const double* bids);
  // (K), in units of money; of item j for the bidder of a row.
  const float* fees(int64_t row) const { return &fees_[row * tariffs]; }
  const float* markups(int64_t row, int j) const {
    return &markups_[((whom_ == To::kAll ? row : row / n) * m + j) * tariffs];
  }

  int n, m, profiles;  // of a run, at most
  int64_t tariffs = 0;
  std::vector<double> thresholds;  // (rows, m)
  std::vector<uint8_t> wins;       // (rows, m)

 private:
  To whom_;
  compute::Graph graph_;
  std::optional<compute::Variables> variables_;
  std::optional<compute::Program> program_;
  std::vector<float> others_, reserve_, won_;  // (rows, m, features), (rows, m), (rows, m)
  std::vector<int32_t> bidder_;
  std::vector<float> fees_, markups_;  // (rows, K), (rows or profiles, m, K)
};

// There a bidder wins many items, and fees for all of them are what earns.
bool few_bidders_and_many_items(const Setting& setting);
// For a setting: whoever is alike is not told apart.
TariffSize tariff_size_for(const Setting& setting, int hidden, int width, int tariffs);
// The size that the tensors of saved parameters tell.
TariffSize tariff_size(const Parameters& parameters);
// Whether bidders and items are alike in all that the parameters know: then they take any size.
bool all_are_alike(const Parameters& parameters);
// The same weights for another size; of those that are alike.
Parameters of_size(Parameters parameters, int bidders, int items);
// Before training: without levels the first tariff sells every item on its own; with them prices
// fall and fees rise from tariff to tariff, fees with what the others leave to gain.
Parameters fresh_tariffs(const MechanismKind& kind, const Setting& setting, const TariffSize& size,
                         uint64_t seed);
// Tariffs on an affine maximiser that sells item by item at reserves, almost without fee and
// markup.
Parameters fresh_ama_tariffs(const MechanismKind& kind, const Setting& setting, TariffSize size,
                             uint64_t seed);

}  // namespace agora::auctions

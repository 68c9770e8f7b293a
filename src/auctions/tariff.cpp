#include "auctions/tariff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "auctions/exact/reserve.h"
#include "auctions/lanes.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/training/recipes.h"
#include "base/error.h"
#include "compute/variables.h"
#include "nn/initialisers.h"

namespace agora::auctions {

using namespace compute;

namespace {

constexpr double kSmall = 0.1;           // the gain of heads: offers start almost constant
constexpr double kShareOfSurplus = 0.8;  // the last tariff's fee without levels
constexpr double kShareAtLevels = 0.65;  // every fee with levels
constexpr double kRareWinners = 0.1;     // are above the first level
constexpr int64_t kSurplusProfiles = 4096;
constexpr int64_t kMostTariffs = 4096;
constexpr int kRowsPerRun = 256, kProfilesPerRun = 128;
constexpr int64_t kCellsPerRun = 8192;
constexpr double kFar = 1e6;  // the network sees nothing beyond it, in units: it stays finite
constexpr int kFewBidders = 5, kManyItems = 8;

// What the parameters say of each bidder and item.
constexpr std::array<const char*, 3> kPerCell{"scale.low", "scale.range", "reserve"};

// Where a profile is one row of the program, more of them fill its tiles.
int profiles_per_run(int n, int m, TariffOffers::To whom) {
  const int few = std::max(1, kRowsPerRun / n);
  if (whom == TariffOffers::To::kAll) return few;
  return std::max(
      few, static_cast<int>(std::min<int64_t>(kProfilesPerRun, kCellsPerRun / (int64_t{n} * m))));
}

std::string layer(int64_t k, const char* what) { return fmt::format("context.{}.{}", k, what); }

// What bidders of drawn profiles would gain on items that they win.
class Gains {
 public:
  Gains(const Setting& setting, const TariffViews& views)
      : unit_demand_(setting.unit_demand()), items_(setting.items()) {
    const int64_t size = int64_t{setting.bidders()} * items_;
    std::vector<double> values(kSurplusProfiles * size), thresholds(size);
    std::vector<uint8_t> wins(size);
    std::vector<float> others(size * views.features()), reserve(size);
    setting.sample(0, kDesignStream, 0, kSurplusProfiles, values.data());
    for (int64_t k = 0; k < kSurplusProfiles; ++k) {
      const double* bids = values.data() + k * size;
      views.look(bids, thresholds.data(), wins.data(), others.data(), reserve.data());
      for (int64_t e = 0; e < size; ++e) {
        const double gain = wins[e] ? (bids[e] - thresholds[e]) / views.unit() : 0.0;
        cells_.push_back({gain, reserve[e]});
        if (wins[e]) above_.push_back(gain - reserve[e]);
      }
    }
  }

  // What a winner gains on an item and the reserve's distance from the threshold together, but for
  // a share of winners: a price level there is above almost all values.
  double high(double share) const {
    std::vector<double> sorted = above_;
    const auto at = static_cast<size_t>((1 - share) * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<int64_t>(at), sorted.end());
    return sorted[at];
  }

  // What a bidder gains on average if no price is below the item's reserve and `offset`.
  double mean(double offset) const {
    double sum = 0.0;
    for (size_t row = 0; row < cells_.size(); row += items_) {
      double all = 0.0, most = 0.0;  // of the items it would get
      for (size_t e = row; e < row + items_; ++e) {
        const double gain =
            std::max(0.0, cells_[e].gain - std::max(0.0, cells_[e].reserve + offset));
        all += gain;
        most = std::max(most, gain);
      }
      sum += unit_demand_ ? most : all;
    }
    const size_t rows = cells_.size() / items_;
    return sum / static_cast<double>(rows);
  }

 private:
  struct Cell {
    double gain;     // bid less threshold
    double reserve;  // less threshold
  };
  bool unit_demand_;
  size_t items_;
  std::vector<Cell> cells_;  // (profiles, n, m), in units of money
  std::vector<double> above_;
};

// With levels: a price level each, from the highest down to none, and a fee to match. Without: from
// the reserves and no fee to a fee and no reserves.
void set_first_offers(Parameters& parameters, const Setting& setting, const TariffViews& views) {
  std::vector<double>& markups = parameters.tensors.at("markup.bias").values;
  std::vector<double>& fees = parameters.tensors.at("fee.bias").values;
  const bool levels = parameters.tensors.contains("slope");
  if (markups.size() < 2) return;
  const Gains gains(setting, views);
  const double last = static_cast<double>(markups.size()) - 1;
  const double all = gains.mean(-std::numeric_limits<double>::infinity());
  for (size_t k = 0; !levels && k < markups.size(); ++k) {
    const double place = static_cast<double>(k) / last;
    parameters.tensors.at("share").values[k] = 1.0 - place;
    fees[k] = kShareOfSurplus * all * static_cast<double>(k) / last;
  }
  if (!levels) return;
  double lowest = 0.0;  // no markup even on the item of the highest reserve
  for (const double reserve : parameters.tensors.at("reserve").values) {
    lowest = std::min(lowest, -reserve / views.unit());
  }
  const double highest = std::max(0.0, gains.high(kRareWinners));
  for (size_t k = 0; k < markups.size(); ++k) {
    const double place = static_cast<double>(k) / last;
    markups[k] = highest + (lowest - highest) * place;
    fees[k] = kShareAtLevels * gains.mean(markups[k]);
  }
}

}  // namespace

TariffNet::TariffNet(Graph& graph, int64_t bidders, int64_t items, int64_t features,
                     const TariffSize& size) {
  const int64_t width = size.width, tariffs = size.tariffs, kinds = size.same_items ? 1 : items;
  item_weight_ = graph.parameter("item.weight", {features, width}, nn::uniform(-2, 2));
  item_bias_ = graph.parameter("item.bias", {kinds, width}, nn::uniform(-1, 1));
  for (int64_t k = 0; k < size.hidden; ++k) {
    context_weights_.push_back(
        graph.parameter(layer(k, "weight"), {width, width}, nn::xavier_uniform(nn::kReluGain)));
    context_biases_.push_back(graph.parameter(layer(k, "bias"), {width}));
  }
  fee_weight_ = graph.parameter("fee.weight", {width, tariffs}, nn::xavier_uniform(kSmall));
  fee_bias_ = graph.parameter("fee.bias", {tariffs});
  offer_weight_ = graph.parameter("offer.weight", {features, width}, nn::uniform(-2, 2));
  offer_context_ = graph.parameter("offer.context", {width, width}, nn::glorot_uniform());
  offer_bias_ = graph.parameter("offer.bias", {kinds, width}, nn::uniform(-1, 1));
  markup_weight_ = graph.parameter("markup.weight", {width, tariffs}, nn::xavier_uniform(kSmall));
  markup_bias_ = graph.parameter("markup.bias", {tariffs});
  slope_ = graph.parameter(size.levels ? "slope" : "share", {tariffs}, nn::filled(1.0));
  levels_ = size.levels;
  if (!size.same_bidders) {
    bidder_ = graph.parameter("bidder.bias", {bidders, width}, nn::uniform(-1, 1));
  }
}

TariffNet::Inputs TariffNet::declare(Graph& graph, int64_t items, int64_t features) {
  return {graph.input("others", {kRows, items, features}), graph.input("reserve", {kRows, items}),
          graph.index_input("bidder", {kRows})};
}

Tensor TariffNet::context(Tensor others, Tensor bidder) const {
  const auto items = static_cast<double>(others.size(-2));
  const Tensor seen = relu(matmul(others, item_weight_) + item_bias_);  // (..., m, width)
  Tensor context = sum(seen, {-2}) / std::sqrt(items);
  if (bidder_.graph != nullptr) context = context + bidder;
  for (size_t k = 0; k < context_weights_.size(); ++k) {
    context = relu(matmul(context, context_weights_[k], context_biases_[k]));
  }
  return context;
}

Tensor TariffNet::markups(Tensor others, Tensor reserve, Tensor told) const {
  const Tensor offer = relu(matmul(others, offer_weight_) + told + offer_bias_);
  if (!levels_) reserve = relu(reserve);
  return matmul(offer, markup_weight_, markup_bias_) +
         reserve * reshape(slope_, {1, slope_.size(0)});
}

TariffNet::Offers TariffNet::operator()(const Inputs& inputs) const {
  const int64_t items = inputs.others.size(1), width = fee_weight_.size(0);
  const bool differ = bidder_.graph != nullptr;
  const Tensor seen = context(inputs.others, differ ? gather(bidder_, inputs.bidder) : bidder_);
  const Tensor told = reshape(matmul(seen, offer_context_), {kRows, 1, width});
  return {matmul(seen, fee_weight_, fee_bias_),
          markups(inputs.others, reshape(inputs.reserve, {kRows, items, 1}), told)};
}

Tensor TariffNet::of_highest(Tensor x, Tensor won) {
  const int64_t n = won.size(1), m = won.size(2);
  return sum(x * (x.rank() == 3 ? won : reshape(won, {kRows, n, m, 1})), {1});
}

TariffNet::Offers TariffNet::to_highest(Tensor others, Tensor reserve, Tensor won) const {
  const int64_t n = won.size(1), m = won.size(2), width = fee_weight_.size(0);
  const Tensor seen = context(others, bidder_);  // (rows, n, width)
  const Tensor told = reshape(matmul(seen, offer_context_), {kRows, n, 1, width});
  return {matmul(seen, fee_weight_, fee_bias_),
          markups(of_highest(others, won), reshape(of_highest(reserve, won), {kRows, m, 1}),
                  of_highest(told, won))};
}

TariffViews::TariffViews(const Parameters& parameters)
    : bidders_(parameters.bidders),
      items_(parameters.items),
      features_(tensor(parameters, "item.weight", {-1, -1}).shape[0]),
      unit_(tensor(parameters, "unit", {1}).values[0]),
      low_(tensor(parameters, "scale.low", {int64_t{bidders_} * items_}).values),
      range_(tensor(parameters, "scale.range", {int64_t{bidders_} * items_}).values),
      reserves_(tensor(parameters, "reserve", {bidders_, items_}).values),
      saturating_(tensor(parameters, "scale.saturating", {1}).values[0] != 0) {
  const auto positive = [](double value) { return value > 0; };
  if (features_ < 1 || features_ > 2 || !positive(unit_) ||
      !std::all_of(range_.begin(), range_.end(), positive)) {
    throw user_error(
        "mechanism '{}': expected a positive 'unit', 'scale.range' above 0 and 1 or 2 "
        "rows of 'item.weight'",
        parameters.mechanism);
  }
}

void TariffViews::look(const double* bids, double* thresholds, uint8_t* wins, float* others,
                       float* reserve) const {
  const int n = bidders_, m = items_;
  in_fours(m, [&]<typename Real>(int64_t j) {
    Real best = load<Real>(bids + j), second{}, winner{};  // equal bids: the lowest number
    const auto number = [](int i) { return Real{} + static_cast<double>(i); };
    for (int i = 1; i < n; ++i) {
      const Real bid = load<Real>(bids + i * m + j);
      second = larger(second, smaller(bid, best));
      winner = bid > best ? number(i) : winner;
      best = larger(best, bid);
    }
    for (int i = 0; i < n; ++i) {
      store(thresholds + i * m + j, winner == number(i) ? second : best);
      store(wins + i * m + j, winner == number(i));
    }
  });
  const auto near = []<typename Real>(Real x) {
    return smaller(larger(x, Real{} - kFar), Real{} + kFar);
  };
  const auto scaled = [&]<typename Real>(Real x, int64_t cell) {
    const Real place = (x - load<Real>(&low_[cell])) / load<Real>(&range_[cell]);
    return near(saturating_ ? place / (1.0 + larger(place, Real{})) : place);
  };
  in_fours(int64_t{n} * m, [&]<typename Real>(int64_t cell) {
    const Real threshold = load<Real>(thresholds + cell);
    store(reserve + cell, near((load<Real>(&reserves_[cell]) - threshold) / unit_));
    if (features_ == 1) store(others + cell, scaled(threshold, cell));
  });
  for (int cell = 0; features_ == 2 && cell < n * m; ++cell) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += bids[i * m + cell % m];
    store(others + 2 * cell, scaled(thresholds[cell], cell));
    store(others + 2 * cell + 1, scaled((sum - bids[cell]) / std::max(1, n - 1), cell));
  }
}

TariffOffers::TariffOffers(const Parameters& parameters, const TariffViews& views, To whom)
    : n(parameters.bidders),
      m(parameters.items),
      profiles(profiles_per_run(n, m, whom)),
      whom_(whom) {
  const TariffSize size = tariff_size(parameters);
  const int64_t rows = int64_t{profiles} * n, features = views.features();
  const TariffNet net(graph_, n, m, features, size);
  const auto [fees, markups] = whom == To::kAll
                                   ? net(TariffNet::declare(graph_, m, features))
                                   : net.to_highest(graph_.input("others", {kRows, n, m, features}),
                                                    graph_.input("reserve", {kRows, n, m}),
                                                    graph_.input("won", {kRows, n, m}));
  variables_.emplace(graph_);
  for (const Tensor& weight : graph_.parameters()) {
    const std::string& name = weight.node().name;
    variables_->set(
        name, std::span<const double>(
                  tensor(parameters, name, {weight.shape().begin(), weight.shape().end()}).values));
  }
  program_.emplace(graph_, *variables_,
                   Computation{{{"fees", relu(fees)}, {"markups", relu(markups)}}, {}},
                   CompileOptions{.rows = whom == To::kAll ? rows : profiles});
  tariffs = size.tariffs;
  thresholds.resize(rows * m);
  wins.resize(rows * m);
  others_.resize(rows * m * features);
  reserve_.resize(rows * m);
  won_.resize(rows * m);
  fees_.resize(rows * tariffs);
  markups_.resize((whom == To::kAll ? rows : profiles) * m * tariffs);
  for (int64_t row = 0; row < rows; ++row) bidder_.push_back(static_cast<int32_t>(row % n));
}

void TariffOffers::offer(int64_t count, const TariffViews& views, const double* bids) {
  const int64_t size = int64_t{n} * m, rows = count * n;
  for (int64_t k = 0; k < count; ++k) {
    views.look(bids + k * size, &thresholds[k * size], &wins[k * size],
               &others_[k * size * views.features()], &reserve_[k * size]);
  }
  const auto first = [](auto& values, int64_t length) {
    return std::span(values.data(), static_cast<size_t>(length));
  };
  program_->set("others", first(std::as_const(others_), rows * m * views.features()));
  program_->set("reserve", first(std::as_const(reserve_), rows * m));
  if (whom_ == To::kAll) {
    program_->set("bidder", first(std::as_const(bidder_), rows));
  } else {
    std::copy_n(wins.begin(), rows * m, won_.begin());
    program_->set("won", first(std::as_const(won_), rows * m));
  }
  program_->run();
  program_->read("fees", first(fees_, rows * tariffs));
  program_->read("markups", first(markups_, (whom_ == To::kAll ? rows : count) * m * tariffs));
}

bool few_bidders_and_many_items(const Setting& setting) {
  const int n = setting.bidders();
  return n > 1 && n <= kFewBidders && setting.items() >= kManyItems;
}

TariffSize tariff_size_for(const Setting& setting, int hidden, int width, int tariffs) {
  return {tariffs,
          hidden,
          width,
          setting.item_symmetric(),
          setting.bidder_symmetric(),
          few_bidders_and_many_items(setting)};
}

TariffSize tariff_size(const Parameters& parameters) {
  const auto shape = [&](const char* name) { return tensor(parameters, name, {-1, -1}).shape; };
  TariffSize size;
  size.tariffs = tensor(parameters, "fee.bias", {-1}).shape[0];
  size.width = shape("item.weight")[1];
  size.hidden = 0;
  while (parameters.tensors.contains(layer(size.hidden, "weight"))) ++size.hidden;
  size.same_items = shape("item.bias")[0] == 1;
  size.same_bidders = !parameters.tensors.contains("bidder.bias");
  size.levels = !parameters.tensors.contains("share");
  if (size.tariffs < 1 || size.tariffs > kMostTariffs || size.width < 1) {
    throw user_error("mechanism '{}': expected 1 to {} tariffs and a width of at least 1",
                     parameters.mechanism, kMostTariffs);
  }
  return size;
}

bool all_are_alike(const Parameters& parameters) {
  const TariffSize size = tariff_size(parameters);
  return size.same_items && size.same_bidders &&
         std::all_of(kPerCell.begin(), kPerCell.end(), [&](const char* name) {
           const auto found = parameters.tensors.find(name);
           if (found == parameters.tensors.end()) return false;  // refused by TariffViews
           const std::vector<double>& values = found->second.values;
           return std::all_of(values.begin(), values.end(),
                              [&](double value) { return value == values.front(); });
         });
}

Parameters of_size(Parameters parameters, int bidders, int items) {
  if (bidders == parameters.bidders && items == parameters.items) return parameters;
  const int64_t n = bidders, m = items;
  parameters.bidders = bidders;
  parameters.items = items;
  for (const char* name : kPerCell) {
    auto& [shape, values] = parameters.tensors.at(name);
    shape = shape.size() == 1 ? std::vector<int64_t>{n * m} : std::vector<int64_t>{n, m};
    values.assign(static_cast<size_t>(n * m), values.at(0));
  }
  return parameters;
}

Parameters fresh_tariffs(const MechanismKind& kind, const Setting& setting, const TariffSize& size,
                         uint64_t seed) {
  const int64_t n = setting.bidders(), m = setting.items();
  const Architecture scale = architecture_for({}, setting, 1, 1);
  const bool drawn_together = laws_of(setting).table != nullptr && n > 1;
  const int64_t features = drawn_together ? 2 : 1;
  Parameters parameters = network_parameters(kind.name, setting, scale);
  parameters.tensors["unit"] = {{1}, {unit_of_money(setting)}};
  parameters.tensors["reserve"] = {{n, m}, reserves_for(setting)};
  parameters.tensors["item.weight"] = {{features, size.width}, {}};  // tells the number of features
  const TariffViews views(parameters);
  Graph graph;
  const TariffNet net(graph, n, m, features, size);
  Variables variables(graph, Type::kFloat64, 0, Device::kCpu);
  variables.initialize(seed, kWeightStream);
  for (const Tensor& weight : graph.parameters()) {
    parameters.tensors[weight.node().name] = {{weight.shape().begin(), weight.shape().end()},
                                              variables.get(weight.node().name)};
  }
  set_first_offers(parameters, setting, views);
  return parameters;
}

}  // namespace agora::auctions

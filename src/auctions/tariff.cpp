#include "auctions/tariff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "auctions/lanes.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "compute/variables.h"
#include "nn/initialisers.h"

namespace agora::auctions {

using namespace compute;

namespace {

constexpr double kSmall = 0.1;  // the gain of heads: offers start almost constant
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
  if (size.fees_of_items) {
    fee_items_ = graph.parameter("fee.items", {width, tariffs}, nn::filled(0.0));
  }
  if (!size.same_bidders) {
    bidder_ = graph.parameter("bidder.bias", {bidders, width}, nn::uniform(-1, 1));
  }
}

TariffNet::Inputs TariffNet::declare(Graph& graph, int64_t items, int64_t features) {
  return {graph.input("others", {kRows, items, features}), graph.input("reserve", {kRows, items}),
          graph.index_input("bidder", {kRows})};
}

Tensor TariffNet::together(Tensor others) const {
  const auto items = static_cast<double>(others.size(-2));
  const Tensor seen = relu(matmul(others, item_weight_) + item_bias_);  // (..., m, width)
  return sum(seen, {-2}) / std::sqrt(items);
}

Tensor TariffNet::context(Tensor together, Tensor bidder) const {
  Tensor context = together;
  if (bidder_.graph != nullptr) context = context + bidder;
  for (size_t k = 0; k < context_weights_.size(); ++k) {
    context = relu(matmul(context, context_weights_[k], context_biases_[k]));
  }
  return context;
}

Tensor TariffNet::fees(Tensor together, Tensor context) const {
  const Tensor fees = matmul(context, fee_weight_, fee_bias_);
  return fee_items_.graph == nullptr ? fees : fees + matmul(together, fee_items_);
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
  const Tensor all = together(inputs.others);
  const Tensor seen = context(all, differ ? gather(bidder_, inputs.bidder) : bidder_);
  const Tensor told = reshape(matmul(seen, offer_context_), {kRows, 1, width});
  return {fees(all, seen),
          markups(inputs.others, reshape(inputs.reserve, {kRows, items, 1}), told)};
}

Tensor TariffNet::of_highest(Tensor x, Tensor won) {
  const int64_t n = won.size(1), m = won.size(2);
  return sum(x * (x.rank() == 3 ? won : reshape(won, {kRows, n, m, 1})), {1});
}

TariffNet::Offers TariffNet::to_highest(Tensor others, Tensor reserve, Tensor won) const {
  const int64_t n = won.size(1), m = won.size(2), width = fee_weight_.size(0);
  const Tensor all = together(others), seen = context(all, bidder_);  // (rows, n, width)
  const Tensor told = reshape(matmul(seen, offer_context_), {kRows, n, 1, width});
  return {fees(all, seen),
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
  const bool levels = few_bidders_and_many_items(setting);
  return {tariffs,
          hidden,
          width,
          setting.item_symmetric(),
          setting.bidder_symmetric(),
          levels,
          levels && !setting.unit_demand()};
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
  size.fees_of_items = parameters.tensors.contains("fee.items");
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

}  // namespace agora::auctions

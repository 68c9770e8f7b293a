// The tariffs that a training starts from.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "auctions/exact/reserve.h"
#include "auctions/network.h"
#include "auctions/setting.h"
#include "auctions/tariff.h"
#include "auctions/training/recipes.h"
#include "compute/variables.h"

namespace agora::auctions {

using namespace compute;

namespace {

constexpr double kShareOfSurplus = 0.8;  // the last tariff's fee without levels
constexpr double kShareAtLevels = 0.65;  // every fee with levels
constexpr double kRareWinners = 0.1;     // are above the first level
constexpr int64_t kProfiles = 4096, kFittedProfiles = 1024;
constexpr size_t kQuantiles = 64;
constexpr double kRidge = 1e-7;

// What bidders of drawn profiles see of each other, and would gain.
class Gains {
 public:
  Gains(const Setting& setting, const TariffViews& views)
      : unit_demand_(setting.unit_demand()),
        bidders_(static_cast<size_t>(setting.bidders())),
        items_(static_cast<size_t>(setting.items())),
        features_(static_cast<size_t>(views.features())) {
    const size_t size = bidders_ * items_;
    std::vector<double> values(kProfiles * size), thresholds(size);
    std::vector<uint8_t> wins(size);
    std::vector<float> others(size * features_), reserve(size);
    std::vector<std::vector<double>> of_cell(size);
    setting.sample(0, kDesignStream, 0, kProfiles, values.data());
    for (int64_t k = 0; k < kProfiles; ++k) {
      const double* bids = values.data() + k * size;
      views.look(bids, thresholds.data(), wins.data(), others.data(), reserve.data());
      for (size_t e = 0; e < size; ++e) {
        const double threshold = thresholds[e] / views.unit(), value = bids[e] / views.unit();
        const double gain = wins[e] ? value - threshold : 0.0;
        cells_.push_back({gain, reserve[e], threshold});
        if (wins[e]) above_.push_back(gain - reserve[e]);
        of_cell[e].push_back(value);
      }
      others_.insert(others_.end(), others.begin(), others.end());
    }
    for (std::vector<double>& each : of_cell) {
      std::sort(each.begin(), each.end());
      std::array<double, kQuantiles>& quantiles = quantiles_.emplace_back();
      for (size_t q = 0; q < kQuantiles; ++q) {
        quantiles[q] = each[(2 * q + 1) * each.size() / (2 * kQuantiles)];
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
        const double gain = std::max(0.0, cells_[e].gain - markup(cells_[e], offset));
        all += gain;
        most = std::max(most, gain);
      }
      sum += unit_demand_ ? most : all;
    }
    const size_t rows = cells_.size() / items_;
    return sum / static_cast<double>(rows);
  }

  // The weights of the sums that the network sees of the items of a bidder, and of 1 (width + 1,
  // offsets), that come closest to what the bidder expects to gain at each offset from what the
  // others bid.
  Eigen::MatrixXd expected(const Parameters& parameters, const std::vector<double>& offsets) const {
    const auto rows = static_cast<int64_t>(kFittedProfiles * bidders_);
    const auto columns = static_cast<int64_t>(offsets.size());
    const int64_t width = parameters.tensors.at("item.weight").shape[1];
    Eigen::MatrixXd seen = Eigen::MatrixXd::Zero(rows, width + 1);
    Eigen::MatrixXd gains = Eigen::MatrixXd::Zero(rows, columns);
    seen.col(width).setOnes();
    for (int64_t row = 0; row < rows; ++row) {
      for (size_t j = 0; j < items_; ++j) {
        const size_t cell = static_cast<size_t>(row) * items_ + j;
        for (int64_t h = 0; h < width; ++h) seen(row, h) += unit_of(parameters, cell, h);
        for (int64_t k = 0; k < columns; ++k) gains(row, k) += expected_of(cell, offsets[k]);
      }
    }
    const Eigen::MatrixXd square = seen.transpose() * seen;
    const Eigen::MatrixXd ridge =
        kRidge * square.trace() * Eigen::MatrixXd::Identity(width + 1, width + 1);
    return (square + ridge).ldlt().solve(seen.transpose() * gains);
  }

 private:
  struct Cell {
    double gain;       // bid less threshold, of a winner
    double reserve;    // less threshold
    double threshold;  // the highest other bid
  };

  static double markup(const Cell& cell, double offset) {
    return std::max(0.0, cell.reserve + offset);
  }

  // Of an item, whoever is to get it, before the bidder knows its own value.
  double expected_of(size_t cell, double offset) const {
    const double price = cells_[cell].threshold + markup(cells_[cell], offset);
    double sum = 0.0;
    for (const double value : quantiles_[cell % quantiles_.size()]) {
      sum += std::max(0.0, value - price);
    }
    return sum / static_cast<double>(kQuantiles);
  }

  // What the first layer's unit h makes of an item, as a part of its sum (TariffNet::together).
  double unit_of(const Parameters& parameters, size_t cell, int64_t h) const {
    const auto& [shape, weight] = parameters.tensors.at("item.weight");
    const auto& [kinds, bias] = parameters.tensors.at("item.bias");
    const int64_t width = shape[1], kind = kinds[0] == 1 ? 0 : static_cast<int64_t>(cell % items_);
    double sum = bias[kind * width + h];
    for (size_t f = 0; f < features_; ++f) {
      sum += others_[cell * features_ + f] * weight[static_cast<int64_t>(f) * width + h];
    }
    return std::max(0.0, sum) / std::sqrt(static_cast<double>(items_));
  }

  bool unit_demand_;
  size_t bidders_, items_, features_;
  std::vector<Cell> cells_;    // (profiles, n, m), in units of money
  std::vector<float> others_;  // (profiles, n, m, features)
  std::vector<double> above_;
  std::vector<std::array<double, kQuantiles>> quantiles_;  // of the values of (n, m)
};

// With levels: a price level each, from the highest down to none, and a fee to match. Without: from
// the reserves and no fee to a fee and no reserves.
void set_first_offers(Parameters& parameters, const Setting& setting, const TariffViews& views) {
  const auto values_of = [&](const char* name) -> std::vector<double>& {
    return parameters.tensors.at(name).values;
  };
  std::vector<double>&markups = values_of("markup.bias"), &fees = values_of("fee.bias");
  const bool levels = parameters.tensors.contains("slope");
  if (markups.size() < 2) return;
  const Gains gains(setting, views);
  const double last = static_cast<double>(markups.size()) - 1;
  const double all = gains.mean(-std::numeric_limits<double>::infinity());
  for (size_t k = 0; !levels && k < markups.size(); ++k) {
    const double place = static_cast<double>(k) / last;
    values_of("share")[k] = 1.0 - place;
    fees[k] = kShareOfSurplus * all * static_cast<double>(k) / last;
  }
  if (!levels) return;
  double lowest = 0.0;  // no markup even on the item of the highest reserve
  for (const double reserve : values_of("reserve")) {
    lowest = std::min(lowest, -reserve / views.unit());
  }
  const double highest = std::max(0.0, gains.high(kRareWinners));
  for (size_t k = 0; k < markups.size(); ++k) {
    const double place = static_cast<double>(k) / last;
    markups[k] = highest + (lowest - highest) * place;
    fees[k] = kShareAtLevels * gains.mean(markups[k]);
  }
  if (!parameters.tensors.contains("fee.items")) return;
  const Eigen::MatrixXd fitted = kShareAtLevels * gains.expected(parameters, markups);
  const auto tariffs = static_cast<int64_t>(fees.size()), width = fitted.rows() - 1;
  for (int64_t k = 0; k < tariffs; ++k) {
    fees[k] = fitted(width, k);
    for (int64_t h = 0; h < width; ++h) values_of("fee.items")[h * tariffs + k] = fitted(h, k);
  }
}

}  // namespace

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

#include "auctions/network.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "auctions/engine_pool.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "compute/backend.h"
#include "compute/gradients.h"
#include "compute/program.h"

namespace agora::auctions {

using namespace compute;

namespace {

constexpr int64_t kRowsPerRun = 256, kRowsOnAGpu = 8192, kFewestRows = 16;
constexpr int64_t kCells = int64_t{1} << 20;  // bids of a run
constexpr double kMostBytes = 2e9;            // of a run's smallest piece
constexpr double kUsualQuantile = 0.95;

// Rows of a run: fewer of larger profiles. One that could not fit is the user's mistake.
int64_t rows_per_run(const NetworkKind& kind, const Parameters& parameters,
                     const Architecture& architecture) {
  const int64_t most = default_device() == Device::kCpu ? kRowsPerRun : kRowsOnAGpu;
  const int64_t size = int64_t{architecture.bidders} * architecture.items;
  if (!kind.any_size) return std::clamp(kCells / size, kRowsPerRun, most);
  const double bytes = 32.0 * kFewestRows * static_cast<double>(size) * architecture.width;
  if (bytes > kMostBytes) {
    throw user_error("{} of width {} takes about {:.3g} GB in {}x{}, at most {:.3g}",
                     parameters.mechanism, architecture.width, bytes / 1e9, architecture.bidders,
                     architecture.items, kMostBytes / 1e9);
  }
  return std::clamp(kCells / size, kFewestRows, most);
}

// A network compiled for one size. It serves one thread at a time, on a device beside the others.
class Engine {
 public:
  Engine(const NetworkKind& kind, const Architecture& architecture, const Parameters& parameters)
      : n_(architecture.bidders),
        m_(architecture.items),
        rows_(rows_per_run(kind, parameters, architecture)) {
    const auto make_lane = backend(default_device()).make_lane;
    if (make_lane != nullptr) lane_ = make_lane();
    const Network network = kind.record(graph_, architecture);
    const Tensors weights = graph_.parameters();

    const Tensor bids = graph_.input("bids", {kRows, n_, m_});
    decision_ = network(bids);

    // The same with one bidder's bid and true values given apart.
    const Tensor bid = graph_.input("bid", {kRows, m_});
    const Tensor values = graph_.input("values", {kRows, m_});
    const Tensor own = graph_.input("own", {n_});
    const Tensor mine = reshape(own, {n_, 1});
    const Decision deviating = network(where(mine, reshape(bid, {kRows, 1, m_}), bids));
    const Tensor won = sum(deviating.allocation * mine, {1});  // (rows, m)
    const Tensor share = sum(deviating.fraction * own, {1});   // (rows)
    utility_ = sum(won * values, {-1}) - share * sum(won * bid, {-1});
    slope_ = gradients(utility_, {bid})[0];

    variables_.emplace(graph_);
    for (const Tensor& weight : weights) {
      const std::string& name = weight.node().name;
      variables_->set(
          name,
          std::span<const double>(
              tensor(parameters, name, {weight.shape().begin(), weight.shape().end()}).values));
    }
  }

  int64_t rows() const { return rows_; }  // at most, of a call

  void decide(int64_t rows, const double* bids, double* allocation, double* fraction) {
    const InLane own_lane(lane_.get());
    if (!forward_) {
      forward_.emplace(
          graph_, *variables_,
          Computation{{{"allocation", decision_.allocation}, {"fraction", decision_.fraction}}, {}},
          CompileOptions{.rows = rows_});
    }
    forward_->set("bids", span(bids, rows * n_ * m_));
    forward_->run();
    forward_->read("allocation", span(allocation, rows * n_ * m_));
    forward_->read("fraction", span(fraction, rows * n_));
  }

  void differentiate(int64_t rows, int bidder, const double* values, const double* bids,
                     double* utility, double* slope) {
    const InLane own_lane(lane_.get());
    if (!backward_) {
      backward_.emplace(graph_, *variables_,
                        Computation{{{"utility", utility_}, {"slope", slope_}}, {}},
                        CompileOptions{.rows = rows_});
    }
    own_.assign(n_, 0.0);
    own_[bidder] = 1.0;
    bid_.resize(rows * m_);
    for (int64_t k = 0; k < rows; ++k) {
      const double* from = bids + (k * n_ + bidder) * m_;
      std::copy(from, from + m_, bid_.begin() + k * m_);
    }
    backward_->set("own", span(own_.data(), n_));
    backward_->set("bids", span(bids, rows * n_ * m_));
    backward_->set("bid", span(bid_.data(), rows * m_));
    backward_->set("values", span(values, rows * m_));
    backward_->run();
    backward_->read("utility", span(utility, rows));
    backward_->read("slope", span(slope, rows * m_));
  }

 private:
  static std::span<const double> span(const double* data, int64_t count) {
    return {data, static_cast<size_t>(count)};
  }
  static std::span<double> span(double* data, int64_t count) {
    return {data, static_cast<size_t>(count)};
  }

  int64_t n_, m_, rows_;
  std::unique_ptr<Lane> lane_;
  Graph graph_;
  Decision decision_;
  Tensor utility_, slope_;
  std::optional<Variables> variables_;
  std::optional<Program> forward_, backward_;
  std::vector<double> own_, bid_;
};

class NetworkMechanism : public Mechanism {
 public:
  NetworkMechanism(NetworkKind kind, Parameters parameters)
      : kind_(std::move(kind)),
        parameters_(std::move(parameters)),
        architecture_(architecture_of(kind_, parameters_)) {
    auto engine = std::make_unique<Engine>(kind_, architecture_, parameters_);
    at_once_ = engine->rows();
    engines_.keep(bidders(), items(), std::move(engine));
  }

  const std::string& name() const override { return parameters_.mechanism; }
  int bidders() const override { return parameters_.bidders; }
  int items() const override { return parameters_.items; }
  Parameters parameters() const override { return parameters_; }
  bool accepts(int n, int m) const override {
    return kind_.any_size || (n == bidders() && m == items());
  }

  void run(int64_t profiles, int n, int m, const double* bids, double* allocation,
           double* payments) const override {
    const auto engine = borrow(n, m);
    const int64_t size = int64_t{n} * m;
    for (int64_t first = 0; first < profiles; first += engine->rows()) {
      const int64_t rows = std::min(engine->rows(), profiles - first);
      double* shares = allocation + first * size;
      double* paid = payments + first * n;
      engine->decide(rows, bids + first * size, shares, paid);
      for (int64_t k = 0; k < rows; ++k) {
        settle(n, m, architecture_.unit_demand, bids + (first + k) * size, shares + k * size,
               paid + k * n);
      }
    }
  }

  int64_t profiles_at_once() const override { return at_once_; }

  bool has_gradients() const override { return true; }
  void utility_gradient(int64_t profiles, int n, int m, int bidder, const double* values,
                        const double* bids, double* utility, double* gradient) const override {
    const auto engine = borrow(n, m);
    const int64_t size = int64_t{n} * m;
    for (int64_t first = 0; first < profiles; first += engine->rows()) {
      const int64_t rows = std::min(engine->rows(), profiles - first);
      engine->differentiate(rows, bidder, values + first * m, bids + first * size, utility + first,
                            gradient + first * m);
    }
  }

 private:
  EnginePool<Engine>::Borrowed borrow(int n, int m) const {
    CHECK(accepts(n, m), "{} is {}x{}, the bids are {}x{}", name(), bidders(), items(), n, m);
    return engines_.borrow(n, m, [&] {
      Architecture architecture = architecture_;
      architecture.bidders = n;
      architecture.items = m;
      return std::make_unique<Engine>(kind_, architecture, parameters_);
    });
  }

  // Makes the network's numbers feasible to the last bit, and fractions payments.
  static void settle(int n, int m, bool one_each, const double* bids, double* allocation,
                     double* payments) {
    for (int j = 0; j < m; ++j) {
      double given = 0.0;
      for (int i = 0; i < n; ++i) given += allocation[i * m + j];
      for (int i = 0; given > 1.0 && i < n; ++i) allocation[i * m + j] /= given;
    }
    for (int i = 0; i < n; ++i) {
      double* own = allocation + i * m;
      const double items = one_each ? std::accumulate(own, own + m, 0.0) : 0.0;
      for (int j = 0; items > 1.0 && j < m; ++j) own[j] /= items;
      double worth = 0.0;
      for (int j = 0; j < m; ++j) worth += allocation[i * m + j] * bids[i * m + j];
      payments[i] *= worth;
    }
  }

  NetworkKind kind_;
  Parameters parameters_;
  Architecture architecture_;
  int64_t at_once_;
  mutable EnginePool<Engine> engines_;
};

// What the layers NAME.K.weight have between the inputs and the last one's outputs.
std::vector<int64_t> hidden_widths(const Parameters& parameters, const std::string& network,
                                   int64_t inputs) {
  std::vector<int64_t> widths;
  for (int64_t in = inputs;; in = widths.back()) {
    const std::string name = fmt::format("{}.{}.weight", network, widths.size());
    const auto layer = parameters.tensors.find(name);
    if (layer == parameters.tensors.end()) break;
    const std::vector<int64_t>& shape = layer->second.shape;
    if (shape.size() != 2 || shape[0] != in || shape[1] < 1) {
      throw user_error("tensor '{}' has shape ({}), expected {} rows", name, fmt::join(shape, ", "),
                       in);
    }
    widths.push_back(shape[1]);
  }
  if (widths.size() < 2) {
    throw user_error("a {} needs tensors '{}.K.weight' of at least two layers",
                     parameters.mechanism, network);
  }
  widths.pop_back();
  return widths;
}

bool all_are(const std::vector<double>& all, double value) {
  return std::all_of(all.begin(), all.end(), [&](double each) { return each == value; });
}

// Numbers of the scaling as a constant beside `x`.
Tensor side(const Architecture& architecture, const std::vector<double>& values, Tensor x) {
  if (values.size() == 1) return x.graph->constant(values[0]);
  return x.graph->constant(values, {architecture.bidders, architecture.items});
}

// Depth and width, as the tensors of the layers tell them.
void find_layers(const NetworkKind& kind, const Parameters& parameters, Architecture& result) {
  const auto layer = [&](int k) {
    return parameters.tensors.find(fmt::format(fmt::runtime(kind.layers), k));
  };
  int layers = 0;
  while (layer(layers) != parameters.tensors.end()) ++layers;
  const int64_t inputs = kind.any_size ? 1 : int64_t{result.bidders} * result.items;
  const bool first = layers >= 2 && layer(0)->second.shape.size() == 2 &&
                     layer(0)->second.shape[0] == inputs && layer(0)->second.shape[1] > 0;
  if (!first) {
    throw user_error("a {} of {}x{} needs a tensor '{}' of {} rows and at least one more layer",
                     parameters.mechanism, result.bidders, result.items,
                     fmt::format(fmt::runtime(kind.layers), 0), inputs);
  }
  result.hidden = layers - 1;
  result.width = static_cast<int>(layer(0)->second.shape[1]);
  for (const std::string& network : kind.free) {
    result.widths[network] = hidden_widths(parameters, network, inputs);
  }
}

}  // namespace

std::vector<int64_t> Architecture::widths_of(const std::string& network) const {
  const auto own = widths.find(network);
  return own != widths.end() ? own->second : std::vector<int64_t>(hidden, width);
}

Tensor payments(const Decision& decision, Tensor bids) {
  return decision.fraction * sum(decision.allocation * bids, {-1});
}

Tensor scaled(const Architecture& architecture, Tensor bids) {
  if (!all_are(architecture.low, 0.0)) bids = bids - side(architecture, architecture.low, bids);
  if (!all_are(architecture.range, 1.0)) bids = bids / side(architecture, architecture.range, bids);
  return architecture.saturating ? bids / (1.0 + bids) : bids;
}

Tensor at_most_one(const Architecture& architecture, Tensor shares) {
  if (!architecture.unit_demand) return shares;
  return shares / maximum(sum(shares, {-1}, Keep::kYes), 1.0);
}

Tensor unscaled(const Architecture& architecture, Tensor x) {
  if (!all_are(architecture.range, 1.0)) x = x * side(architecture, architecture.range, x);
  if (!all_are(architecture.low, 0.0)) x = x + side(architecture, architecture.low, x);
  return x;
}

Architecture architecture_for(const NetworkKind& kind, const Setting& setting, int hidden,
                              int width) {
  Architecture result{setting.bidders(),    setting.items(), hidden, width, {}, {}, false,
                      setting.unit_demand()};
  for (int i = 0; i < setting.bidders(); ++i) {
    for (int j = 0; j < setting.items(); ++j) {
      Interval domain = setting.domain(i, j);
      if (std::isinf(domain.high)) {
        result.saturating = true;
        domain.high = laws_of(setting).rows[i]->marginals()[j]->quantile(kUsualQuantile);
      }
      result.low.push_back(domain.low);
      result.range.push_back(domain.high > domain.low ? domain.high - domain.low : 1.0);
    }
  }
  if (kind.any_size) {  // one scale for all, so that nobody is told apart
    double low = result.low[0], high = result.low[0];
    for (size_t k = 0; k < result.low.size(); ++k) {
      low = std::min(low, result.low[k]);
      high = std::max(high, result.low[k] + result.range[k]);
    }
    result.low = {low};
    result.range = {high - low};
  }
  return result;
}

Architecture architecture_of(const NetworkKind& kind, const Parameters& parameters) {
  Architecture result{parameters.bidders,
                      parameters.items,
                      0,
                      0,
                      {0.0},
                      {1.0},
                      false,
                      parameters.limits.demand == Demand::kUnit};
  if (!kind.layers.empty()) find_layers(kind, parameters, result);
  if (parameters.tensors.contains("scale.low")) {
    result.low = tensor(parameters, "scale.low", {-1}).values;
    result.range = tensor(parameters, "scale.range", {-1}).values;
    const size_t full = kind.any_size ? 1 : size_t(result.bidders) * size_t(result.items);
    const bool fits = result.low.size() == result.range.size() &&
                      (result.low.size() == 1 || result.low.size() == full);
    if (!fits || std::any_of(result.range.begin(), result.range.end(),
                             [](double range) { return !(range > 0); })) {
      throw user_error("tensors 'scale.low' and 'scale.range' do not fit a {} of {}x{}",
                       parameters.mechanism, result.bidders, result.items);
    }
    result.saturating = tensor(parameters, "scale.saturating", {1}).values[0] != 0;
  }
  return result;
}

Parameters network_parameters(std::string_view mechanism, const Setting& setting,
                              const Architecture& architecture) {
  Parameters parameters = parameters_for(mechanism, setting);
  const auto count = static_cast<int64_t>(architecture.low.size());
  parameters.tensors["scale.low"] = {{count}, architecture.low};
  parameters.tensors["scale.range"] = {{count}, architecture.range};
  parameters.tensors["scale.saturating"] = {{1}, {architecture.saturating ? 1.0 : 0.0}};
  return parameters;
}

MechanismKind network_entry(std::string name, std::string summary, const NetworkKind& network) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .pays = "the share of its bids for what it gets that the network says",
          .trial_setting = "2x3 uniform(0,1)",
          .truthful = false,
          .refusal = [](const Setting&) { return ""; },
          .takes_unit_demand = [](const Setting&) { return true; },
          .design = {},
          .make = [=](Parameters p) { return make_network(network, std::move(p)); },
          .network = std::make_shared<NetworkKind>(network)};
}

std::unique_ptr<Mechanism> make_network(const NetworkKind& kind, Parameters parameters) {
  return std::make_unique<NetworkMechanism>(kind, std::move(parameters));
}

std::unique_ptr<Mechanism> untrained(const MechanismKind& kind, const Setting& setting, int hidden,
                                     int width, uint64_t seed) {
  if (kind.network->fresh) {
    return make_mechanism(kind, kind.network->fresh(kind, setting, hidden, width, seed));
  }
  const Architecture architecture = architecture_for(*kind.network, setting, hidden, width);
  Parameters parameters = network_parameters(kind.name, setting, architecture);
  Graph graph;
  kind.network->record(graph, architecture);
  Variables variables(graph);
  variables.initialize(seed);
  for (const Tensor& weight : graph.parameters()) {
    parameters.tensors[weight.node().name] = {{weight.shape().begin(), weight.shape().end()},
                                              variables.get(weight.node().name)};
  }
  return make_mechanism(kind, std::move(parameters));
}

}  // namespace agora::auctions

#include "nn/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "compute/program.h"

namespace agora::nn {
namespace {

using compute::kRows;

std::vector<double> random_values(size_t count) {
  Rng rng(31);
  std::vector<double> values(count);
  for (double& value : values) value = rng.uniform(-1, 1);
  return values;
}

// A function of one input, in double.
class Function {
 public:
  template <typename Build>
  Function(const compute::Shape& in, int64_t rows, Build build) {
    const Tensor x = graph_.input("x", in);
    const Tensor y = build(graph_, x);
    variables_ = std::make_unique<compute::Variables>(graph_, compute::Type::kFloat64);
    variables_->initialize(8);
    program_ = std::make_unique<compute::Program>(
        graph_, *variables_, compute::Computation{.outputs = {{"y", y}}, .updates = {}},
        compute::CompileOptions{.rows = rows});
  }
  std::vector<double> operator()(const std::vector<double>& x) {
    program_->set("x", std::span<const double>(x));
    program_->run();
    std::vector<double> y(static_cast<size_t>(program_->count("y")));
    program_->read("y", std::span<double>(y));
    return y;
  }
  compute::Variables& variables() { return *variables_; }

 private:
  Graph graph_;
  std::unique_ptr<compute::Variables> variables_;
  std::unique_ptr<compute::Program> program_;
};

// (i, j) of an n x m matrix of `size` values each, bidders and items both reversed.
std::vector<double> reversed(const std::vector<double>& x, int64_t n, int64_t m) {
  const int64_t size = static_cast<int64_t>(x.size()) / (n * m);
  std::vector<double> result(x.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      for (int64_t k = 0; k < size; ++k) {
        result[(i * m + j) * size + k] = x[((n - 1 - i) * m + m - 1 - j) * size + k];
      }
    }
  }
  return result;
}

TEST(Layers, ExchangeableNetCommutesWithPermutations) {
  const int64_t n = 3, m = 4;
  Function net({kRows, n, m, 1}, 1, [](Graph& graph, Tensor x) {
    return ExchangeableNet(graph, "net", {1, 25, 25, 2})(x);
  });
  const auto x = random_values(n * m);
  const auto expected = reversed(net(x), n, m), got = net(reversed(x, n, m));
  for (size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], expected[k], 1e-12);
}

// Thesis, appendix of ch. 4: own, mean over bidders, over items, over both, bias.
TEST(Layers, ExchangeableIsTheSumOfItsFourTerms) {
  const int64_t n = 4, m = 3, in = 2, out = 5;
  Function layer({kRows, n, m, in}, 1,
                 [&](Graph& graph, Tensor x) { return Exchangeable(graph, "layer", in, out)(x); });
  const auto bias = random_values(out);
  layer.variables().set("layer.bias", std::span<const double>(bias));
  const auto x = random_values(n * m * in);
  const auto y = layer(x);
  const auto at = [&](int64_t i, int64_t j, int64_t k) { return x[(i * m + j) * in + k]; };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      for (int64_t o = 0; o < out; ++o) {
        double expected = bias[o];
        for (int64_t k = 0; k < in; ++k) {
          double over_bidders = 0, over_items = 0, over_both = 0;
          for (int64_t a = 0; a < n; ++a) over_bidders += at(a, j, k) / n;
          for (int64_t b = 0; b < m; ++b) over_items += at(i, b, k) / m;
          for (int64_t a = 0; a < n * m; ++a) over_both += x[a * in + k] / (n * m);
          const auto weight = [&](const char* name) {
            return layer.variables().get(name)[k * out + o];
          };
          expected += at(i, j, k) * weight("layer.own") + over_bidders * weight("layer.column") +
                      over_items * weight("layer.row") + over_both * weight("layer.total");
        }
        ASSERT_NEAR(y[(i * m + j) * out + o], expected, 1e-12);
      }
    }
  }
}

// The same weights serve any number of bidders and items; with one of each all means coincide.
TEST(Layers, ExchangeableWithOneBidderAndItemIsDense) {
  Function layer({kRows, 1, 1, 2}, 1,
                 [](Graph& graph, Tensor x) { return Exchangeable(graph, "layer", 2, 3)(x); });
  const auto x = random_values(2);
  const auto y = layer(x);
  for (int64_t o = 0; o < 3; ++o) {
    double sum = 0;
    for (const char* part : {"layer.own", "layer.column", "layer.row", "layer.total"}) {
      const auto w = layer.variables().get(part);
      for (int64_t k = 0; k < 2; ++k) sum += x[k] * w[k * 3 + o];
    }
    EXPECT_NEAR(y[o], sum, 1e-12);
  }
}

TEST(Layers, ImpalaHasTheParametersOfTheThesis) {
  Graph graph;
  const Tensor images = graph.input("images", {kRows, 64, 64, 3});
  const Tensor features = Impala(graph, "impala", 64, 64)(images);
  Dense(graph, "actor", 256, 15)(features);
  Dense(graph, "critic", 256, 1)(features);
  int64_t count = 0;
  for (Tensor param : graph.parameters()) {
    int64_t size = 1;
    for (int64_t axis : param.shape()) size *= axis;
    count += size;
  }
  EXPECT_EQ(count, 626'256);
}

TEST(Layers, MlpActivatesBetweenItsLayersOnly) {
  Function net({kRows, 2}, 1, [](Graph& graph, Tensor x) {
    return Mlp(graph, "net", {2, 3, 1})(x);
  });
  net.variables().set("net.1.bias", std::span<const double>(std::vector<double>{2.5}));
  const auto x = random_values(2);
  const auto first = net.variables().get("net.0.weight"),
             last = net.variables().get("net.1.weight");
  double expected = 2.5;  // beyond what any activation gives
  for (int h = 0; h < 3; ++h)
    expected += last[h] * std::tanh(x[0] * first[h] + x[1] * first[3 + h]);
  EXPECT_NEAR(net(x)[0], expected, 1e-12);
}

// On an image of one pixel a convolution is its middle tap: x + c relu(a relu(x) + b) + d.
TEST(Layers, ResidualBlockAddsWhatItsConvolutionsFind) {
  Function block({kRows, 1, 1, 1}, 1,
                 [](Graph& graph, Tensor x) { return ResidualBlock(graph, "block", 1)(x); });
  const double a = 2, b = 0.25, c = -3, d = 0.125;
  const auto set = [&](const char* layer, double weight, double bias) {
    std::vector<double> taps(9, 7.0);
    taps[4] = weight;
    const std::string name = std::string("block.") + layer;
    block.variables().set(name + ".weight", std::span<const double>(taps));
    block.variables().set(name + ".bias", std::span<const double>(std::vector<double>{bias}));
  };
  set("first", a, b);
  set("second", c, d);
  for (const double x : {1.5, -0.1, -2.0}) {
    const double inner = std::max(0.0, a * std::max(0.0, x) + b);
    EXPECT_NEAR(block({x})[0], x + c * inner + d, 1e-12) << x;
  }
}

// Cho et al., with the reset gate behind the product, as in PyTorch; of width 1.
TEST(Layers, GruIsThatOfPyTorch) {
  Graph graph;
  const Tensor x = graph.input("x", {kRows, 1}), h = graph.input("h", {kRows, 1});
  const Tensor next = GruCell(graph, "gru", 1, 1)(x, h);
  compute::Variables variables(graph, compute::Type::kFloat64);
  const std::vector<double> wi{0.5, -0.3, 0.8}, wh{-0.7, 0.4, 0.9}, bi{0.1, 0.2, -0.3},
      bh{0.3, -0.1, 0.6};  // reset, update, proposal
  variables.set("gru.input.weight", std::span<const double>(wi));
  variables.set("gru.hidden.weight", std::span<const double>(wh));
  variables.set("gru.input.bias", std::span<const double>(bi));
  variables.set("gru.hidden.bias", std::span<const double>(bh));
  compute::Program program(graph, variables, {.outputs = {{"next", next}}, .updates = {}},
                           {.rows = 1});
  const double seen = 1.3, state = -0.6;
  program.set("x", std::span<const double>(std::vector<double>{seen}));
  program.set("h", std::span<const double>(std::vector<double>{state}));
  program.run();
  std::vector<double> result(1);
  program.read("next", std::span<double>(result));
  const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
  const auto input = [&](int k) { return wi[k] * seen + bi[k]; };
  const auto recurrent = [&](int k) { return wh[k] * state + bh[k]; };
  const double reset = sigmoid(input(0) + recurrent(0)), update = sigmoid(input(1) + recurrent(1));
  const double proposal = std::tanh(input(2) + reset * recurrent(2));
  EXPECT_NEAR(result[0], (1 - update) * proposal + update * state, 1e-12);
}

TEST(Layers, GruKeepsItsStateWhenTheUpdateGateIsClosed) {
  Graph graph;
  const Tensor x = graph.input("x", {kRows, 2}), h = graph.input("h", {kRows, 3});
  const GruCell cell(graph, "gru", 2, 3);
  const Tensor next = cell(x, h);
  compute::Variables variables(graph, compute::Type::kFloat64);
  variables.initialize(1);
  std::vector<double> bias(9, 0.0);
  for (int k = 3; k < 6; ++k) bias[k] = 40.0;  // update gate: keep h
  variables.set("gru.input.bias", std::span<const double>(bias));
  compute::Program program(graph, variables, {.outputs = {{"next", next}}, .updates = {}},
                           {.rows = 1});
  program.set("x", std::span<const double>(std::vector<double>{0.3, -0.2}));
  program.set("h", std::span<const double>(std::vector<double>{0.5, -0.7, 0.1}));
  program.run();
  std::vector<double> result(3);
  program.read("next", std::span<double>(result));
  EXPECT_NEAR(result[0], 0.5, 1e-12);
  EXPECT_NEAR(result[1], -0.7, 1e-12);
  EXPECT_NEAR(result[2], 0.1, 1e-12);
}

}  // namespace
}  // namespace agora::nn

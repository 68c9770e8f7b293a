#include "nn/layers.h"

#include <gtest/gtest.h>

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

#include "nn/layers.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace agora::nn {

Dense::Dense(Graph& graph, std::string_view name, int64_t in, int64_t out,
             const Initializer& initial)
    : weight(graph.parameter(fmt::format("{}.weight", name), {in, out}, initial)),
      bias(graph.parameter(fmt::format("{}.bias", name), {out})) {}

Tensor Dense::operator()(Tensor x) const { return matmul(x, weight, bias); }

Mlp::Mlp(Graph& graph, std::string_view name, const std::vector<int64_t>& sizes,
         const Initializer& initial, Activation between)
    : activation(between) {
  CHECK(sizes.size() >= 2, "an MLP needs inputs and outputs, found {} sizes", sizes.size());
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    layers.emplace_back(graph, fmt::format("{}.{}", name, i), sizes[i], sizes[i + 1], initial);
  }
}

Tensor Mlp::operator()(Tensor x) const {
  for (size_t i = 0; i + 1 < layers.size(); ++i) x = activation(layers[i](x));
  return layers.back()(x);
}

Exchangeable::Exchangeable(Graph& graph, std::string_view name, int64_t in, int64_t out) {
  // Four terms of like variance share what one dense layer would have.
  const Initializer initial = xavier_uniform(0.5);
  own = graph.parameter(fmt::format("{}.own", name), {in, out}, initial);
  column = graph.parameter(fmt::format("{}.column", name), {in, out}, initial);
  row = graph.parameter(fmt::format("{}.row", name), {in, out}, initial);
  total = graph.parameter(fmt::format("{}.total", name), {in, out}, initial);
  bias = graph.parameter(fmt::format("{}.bias", name), {out});
}

// own x + column (mean over bidders) + row (mean over items) + total (mean over both) + bias acts
// on each part of x by one matrix: on the total mean by the sum of all four, on the items'
// deviations from it by own + column, on the bidders' by own + row, on the rest by own. Reflected,
// these parts are blocks, and the layer needs n m products instead of (n + 1) (m + 1).
Tensor Exchangeable::operator()(Tensor x) const {
  const std::vector<int64_t> cells{-3, -2};  // of (rows, ..., n, m, in)
  const Tensor of_items = own + column, of_bidders = own + row;
  const Tensor of_mean = of_items + (row + total);
  const double size = std::sqrt(static_cast<double>(x.size(-3) * x.size(-2)));
  const Tensor parts =
      matmul_by_block(reflect(x, cells), {of_mean, of_items, of_bidders, own}, bias * size);
  return reflect(parts, cells);
}

ExchangeableNet::ExchangeableNet(Graph& graph, std::string_view name,
                                 const std::vector<int64_t>& channels) {
  CHECK(channels.size() >= 2, "found {} channel counts", channels.size());
  for (size_t i = 0; i + 1 < channels.size(); ++i) {
    layers.emplace_back(graph, fmt::format("{}.{}", name, i), channels[i], channels[i + 1]);
  }
}

Tensor ExchangeableNet::operator()(Tensor x) const {
  for (size_t i = 0; i + 1 < layers.size(); ++i) x = tanh(layers[i](x));
  return layers.back()(x);
}

Conv3x3::Conv3x3(Graph& graph, std::string_view name, int64_t in, int64_t out,
                 const Initializer& initial)
    : weight(graph.parameter(fmt::format("{}.weight", name), {3, 3, in, out}, initial)),
      bias(graph.parameter(fmt::format("{}.bias", name), {out})) {}

Tensor Conv3x3::operator()(Tensor x) const { return conv3x3(x, weight) + bias; }

ResidualBlock::ResidualBlock(Graph& graph, std::string_view name, int64_t channels)
    : first(graph, fmt::format("{}.first", name), channels, channels),
      second(graph, fmt::format("{}.second", name), channels, channels) {}

Tensor ResidualBlock::operator()(Tensor x) const { return x + second(relu(first(relu(x)))); }

Impala::Impala(Graph& graph, std::string_view name, int64_t height, int64_t width, int64_t in,
               const std::vector<int64_t>& channels, int64_t features) {
  for (size_t i = 0; i < channels.size(); ++i) {
    const std::string stack = fmt::format("{}.{}", name, i);
    stacks.push_back({Conv3x3(graph, stack + ".conv", in, channels[i]),
                      ResidualBlock(graph, stack + ".first", channels[i]),
                      ResidualBlock(graph, stack + ".second", channels[i])});
    in = channels[i];
    height = (height + 1) / 2;
    width = (width + 1) / 2;
  }
  dense.emplace_back(graph, fmt::format("{}.dense", name), height * width * in, features,
                     orthogonal(kReluGain));
}

Tensor Impala::operator()(Tensor images) const {
  Tensor x = images;
  for (const Stack& stack : stacks) x = stack.second(stack.first(max_pool(stack.conv(x))));
  return relu(dense.front()(flatten(relu(x))));
}

GruCell::GruCell(Graph& graph, std::string_view name, int64_t in, int64_t width)
    : from_input(graph, fmt::format("{}.input", name), in, 3 * width),
      from_hidden(graph, fmt::format("{}.hidden", name), width, 3 * width),
      hidden(width) {}

Tensor GruCell::operator()(Tensor x, Tensor h) const {
  const Tensor input = from_input(x), recurrent = from_hidden(h);
  const auto gate = [&](Tensor all, int64_t index) {
    return slice(all, 1, index * hidden, (index + 1) * hidden);
  };
  const Tensor reset = sigmoid(gate(input, 0) + gate(recurrent, 0));
  const Tensor update = sigmoid(gate(input, 1) + gate(recurrent, 1));
  const Tensor proposal = tanh(gate(input, 2) + reset * gate(recurrent, 2));
  return proposal + update * (h - proposal);
}

}  // namespace agora::nn

// A RegretNet made elsewhere, as a bare safetensors file: layers `allocation.K.weight`,
// `allocation.K.bias`, `payment.K.weight`, `payment.K.bias` with rising numbers K, weights (out,
// in) as PyTorch keeps them or (in, out). The networks may be called `allocation_head` and
// `payment_head` and follow on shared layers `nn_model`, as in much public code. The numbers of
// inputs and outputs tell those of bidders and items.
#include "auctions/plain_regretnet.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/error.h"

namespace agora::auctions {
namespace {

struct Layer {
  std::vector<int64_t> shape;  // of the weight, as stored
  std::vector<double> weight, bias;
  int64_t outputs() const { return static_cast<int64_t>(bias.size()); }
};

// The layers of one network in the order of their numbers, which activations may leave gaps in.
std::vector<Layer> layers_of(const TensorFile& file, const std::string& net) {
  const std::string ending = ".weight";
  std::map<int, std::string> stems;
  for (const StoredTensor& tensor : file.tensors) {
    if (!tensor.name.starts_with(net + ".") || !tensor.name.ends_with(ending)) continue;
    const std::string stem = tensor.name.substr(0, tensor.name.size() - ending.size());
    const std::string number = stem.substr(net.size() + 1);
    if (number.empty() || number.size() > 4 ||
        !std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      throw user_error("{}: tensor '{}': expected a layer's number before {}", file.path,
                       tensor.name, ending);
    }
    stems[std::atoi(number.c_str())] = stem;
  }
  std::vector<Layer> layers;
  for (const auto& [number, stem] : stems) {
    const StoredTensor& weight = file.at(stem + ending);
    Layer layer{weight.shape, weight.values<double>(), file.at(stem + ".bias").values<double>()};
    if (layer.shape.size() != 2) {
      throw user_error("{}: tensor '{}{}' has {} axes, expected 2", file.path, stem, ending,
                       layer.shape.size());
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

// A network with the layers it shares with the other before its own.
std::vector<Layer> network_of(const TensorFile& file, const std::string& net) {
  std::vector<Layer> layers = layers_of(file, "nn_model"), own = layers_of(file, net);
  if (own.empty()) own = layers_of(file, net + "_head");
  const bool any = !own.empty();
  std::move(own.begin(), own.end(), std::back_inserter(layers));
  if (!any || layers.size() < 2) {
    throw user_error(
        "{}: expected metadata 'mechanism', or a RegretNet's tensors '{}.K.weight' and "
        "'{}.K.bias'",
        file.path, net, net);
  }
  return layers;
}

bool chains(const std::vector<Layer>& layers, bool transposed) {
  for (size_t k = 0; k < layers.size(); ++k) {
    const int64_t in = layers[k].shape[transposed ? 1 : 0];
    const int64_t out = layers[k].shape[transposed ? 0 : 1];
    if (out != layers[k].outputs() || (k > 0 && in != layers[k - 1].outputs())) return false;
  }
  return true;
}

// Logits (n + 1, m) with an unused column beside them, (n + 1, m + 1), as ours are.
void add_unused_column(Layer& last, int64_t n, int64_t m, bool transposed) {
  const int64_t in = last.shape[transposed ? 1 : 0], old = (n + 1) * m, wide = (n + 1) * (m + 1);
  std::vector<double> weight(in * wide), bias(wide);
  for (int64_t i = 0; i <= n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      const int64_t from = i * m + j, to = i * (m + 1) + j;
      bias[to] = last.bias[from];
      for (int64_t a = 0; a < in; ++a) {
        weight[transposed ? to * in + a : a * wide + to] =
            last.weight[transposed ? from * in + a : a * old + from];
      }
    }
  }
  last.shape[transposed ? 0 : 1] = wide;
  last.weight = std::move(weight);
  last.bias = std::move(bias);
}

void store(Parameters& parameters, const std::string& net, const std::vector<Layer>& layers,
           bool transposed) {
  for (size_t k = 0; k < layers.size(); ++k) {
    const Layer& layer = layers[k];
    const int64_t out = layer.outputs(), in = layer.shape[transposed ? 1 : 0];
    std::vector<double> weight = layer.weight;
    for (int64_t a = 0; transposed && a < in; ++a) {
      for (int64_t b = 0; b < out; ++b) weight[a * out + b] = layer.weight[b * in + a];
    }
    parameters.tensors[fmt::format("{}.{}.weight", net, k)] = {{in, out}, std::move(weight)};
    parameters.tensors[fmt::format("{}.{}.bias", net, k)] = {{out}, layer.bias};
  }
}

}  // namespace

Parameters plain_regretnet(const TensorFile& file) {
  std::vector<Layer> allocation = network_of(file, "allocation");
  const std::vector<Layer> payment = network_of(file, "payment");
  const bool transposed = chains(allocation, true) && chains(payment, true);
  if (!transposed && !(chains(allocation, false) && chains(payment, false))) {
    throw user_error("{}: the layers' shapes do not follow on each other", file.path);
  }
  const int64_t n = payment.back().outputs();
  const int64_t logits = allocation.back().outputs();
  const int64_t inputs = allocation[0].shape[transposed ? 1 : 0];
  const int64_t m = n > 0 ? inputs / n : 0;
  const bool one_less = m > 0 && logits == (n + 1) * m;
  if (m < 1 || inputs != n * m || !(one_less || logits == (n + 1) * (m + 1)) ||
      payment[0].shape[transposed ? 1 : 0] != inputs) {
    throw user_error(
        "{}: expected a RegretNet with n*m inputs, (n+1)*m or (n+1)*(m+1) logits and n payments, "
        "found {}, {} and {}",
        file.path, inputs, logits, n);
  }
  if (one_less) add_unused_column(allocation.back(), n, m, transposed);
  Parameters parameters;
  parameters.mechanism = "regretnet";
  parameters.bidders = static_cast<int>(n);
  parameters.items = static_cast<int>(m);
  store(parameters, "allocation", allocation, transposed);
  store(parameters, "payment", payment, transposed);
  return parameters;
}

}  // namespace agora::auctions

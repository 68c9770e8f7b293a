// EquivariantNet (thesis, ch. 4): exchangeable layers, so that nobody's seat matters.
#include "auctions/network.h"
#include "nn/layers.h"

namespace agora::auctions {
namespace {

using compute::Graph;
using compute::Keep;
using compute::Shape;
using compute::Tensor;

Network record(Graph& graph, const Architecture& architecture) {
  std::vector<int64_t> channels(static_cast<size_t>(architecture.hidden) + 2, architecture.width);
  channels.front() = channels.back() = 1;
  const nn::ExchangeableNet sold_net(graph, "sold", channels), split_net(graph, "split", channels),
      payment_net(graph, "payment", channels);
  return [=](Tensor bids) {
    Shape cells = bids.shape();
    cells.push_back(1);
    const Tensor x = reshape(scaled(architecture, bids), cells);  // (rows, ..., n, m, 1)
    const auto matrix = [&](const nn::ExchangeableNet& net) {
      return reshape(net(x), bids.shape());
    };
    const Tensor sold = sigmoid(mean(matrix(sold_net), {-2}, Keep::kYes));
    return Decision{sold * softmax(matrix(split_net), -2),
                    sigmoid(mean(matrix(payment_net), {-1}))};
  };
}

}  // namespace

MechanismKind entry_equivariantnet() {
  return network_entry("equivariantnet",
                       "networks that treat bidders and items alike, for any number of them",
                       {.record = record, .layers = "sold.{}.own", .any_size = true});
}

}  // namespace agora::auctions

// RegretNet: one network for the allocation, one for the payments, each seeing all bids at once.
#include "auctions/network.h"
#include "nn/layers.h"

namespace agora::auctions {
namespace {

using compute::Graph;
using compute::Shape;
using compute::Tensor;

Network record(Graph& graph, const Architecture& architecture) {
  const int64_t n = architecture.bidders, m = architecture.items;
  const auto net = [&](const char* name, int64_t outputs) {
    std::vector<int64_t> sizes = architecture.widths_of(name);
    sizes.insert(sizes.begin(), n * m);
    sizes.push_back(outputs);
    return nn::Mlp(graph, name, sizes);
  };
  const nn::Mlp allocation_net = net("allocation", (n + 1) * (m + 1));
  const nn::Mlp payment_net = net("payment", n);
  return [=](Tensor bids) {
    Shape flat = bids.shape(), logits = bids.shape();
    flat.pop_back();
    flat.back() = n * m;
    logits[logits.size() - 2] = n + 1;  // one more for nobody
    logits.back() = m + 1;              // unused
    const Tensor x = reshape(scaled(architecture, bids), flat);
    const Tensor shares = softmax(reshape(allocation_net(x), logits), -2);
    return Decision{slice(slice(shares, -2, 0, n), -1, 0, m), sigmoid(payment_net(x))};
  };
}

}  // namespace

MechanismKind entry_regretnet() {
  return network_entry(
      "regretnet", "fully connected networks, trained by an augmented Lagrangian",
      {.record = record, .layers = "allocation.{}.weight", .free = {"allocation", "payment"}});
}

}  // namespace agora::auctions

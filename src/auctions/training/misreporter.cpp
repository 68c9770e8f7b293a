#include "auctions/training/misreporter.h"

#include "auctions/algnet.h"
#include "auctions/setting.h"

namespace agora::auctions {

using compute::Graph;
using compute::Tensor;

Misreporter::Misreporter(Graph& graph, const Architecture& architecture, const Setting& setting)
    : architecture_(architecture),
      bounded_(values_end(setting)),
      net_(fully_connected(graph, "misreporter", architecture, architecture.items)) {}

Tensor Misreporter::operator()(Tensor values) const {
  const Tensor raw = net_(seen_by_each(scaled(architecture_, values)));  // (rows, n, m)
  return unscaled(architecture_, bounded_ ? sigmoid(raw) : softplus(raw));
}

}  // namespace agora::auctions

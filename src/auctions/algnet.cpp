#include "auctions/algnet.h"

#include "auctions/training/misreports.h"

namespace agora::auctions {

using compute::Graph;
using compute::kRows;
using compute::Shape;
using compute::Tensor;
using compute::Tensors;

namespace {

std::vector<int64_t> sizes(const Architecture& architecture, int64_t outputs) {
  std::vector<int64_t> result(static_cast<size_t>(architecture.hidden) + 2, architecture.width);
  result.front() = int64_t{architecture.bidders} * architecture.items;
  result.back() = outputs;
  return result;
}

// `own` in bidder i's place, `others` in the remaining ones, own first: (rows, n, n * m).
Tensor seen_by_liars(Tensor own, Tensor others) {
  const int64_t n = own.size(1), m = own.size(2);
  Tensors views;
  for (int64_t i = 0; i < n; ++i) {
    Tensors order{slice(own, 1, i, i + 1)};
    if (i > 0) order.push_back(slice(others, 1, 0, i));
    if (i + 1 < n) order.push_back(slice(others, 1, i + 1, n));
    views.push_back(reshape(concat(order, 1), {kRows, 1, n * m}));
  }
  return concat(views, 1);
}

}  // namespace

nn::Mlp fully_connected(Graph& graph, const char* name, const Architecture& architecture,
                        int64_t outputs) {
  return {graph, name, sizes(architecture, outputs), nn::xavier_uniform(nn::kTanhGain)};
}

Tensor seen_by_each(Tensor bids) {
  const int64_t n = bids.size(-2), m = bids.size(-1);
  Shape one = bids.shape();
  one[one.size() - 2] = 1;
  one.back() = n * m;
  Tensors views;
  for (int64_t i = 0; i < n; ++i) {
    Tensors order{slice(bids, -2, i, i + 1)};
    if (i > 0) order.push_back(slice(bids, -2, 0, i));
    if (i + 1 < n) order.push_back(slice(bids, -2, i + 1, n));
    views.push_back(reshape(concat(order, -2), one));
  }
  return concat(views, -2);
}

Auctioneer::Auctioneer(Graph& graph, const Architecture& architecture)
    : architecture_(architecture),
      sold_(fully_connected(graph, "sold", architecture, architecture.items)),
      split_(fully_connected(graph, "split", architecture, architecture.items)),
      payment_(fully_connected(graph, "payment", architecture, 1)) {}

Tensor Auctioneer::allocate(Tensor x) const {
  Shape flat = x.shape();
  flat[flat.size() - 2] = 1;
  flat.back() = x.size(-2) * x.size(-1);
  return at_most_one(architecture_,
                     sigmoid(sold_(reshape(x, flat))) * softmax(split_(seen_by_each(x)), -2));
}

Decision Auctioneer::operator()(Tensor bids) const {
  const Tensor x = scaled(architecture_, bids);
  Shape per_bidder = bids.shape();
  per_bidder.pop_back();
  return {allocate(x), reshape(sigmoid(payment_(seen_by_each(x))), per_bidder)};
}

Tensor Auctioneer::deviating_utility(Tensor values, Tensor reports) const {
  const int64_t n = values.size(1);
  const Tensor x = scaled(architecture_, values), y = scaled(architecture_, reports);
  const Tensor allocations = allocate(misreport_profiles(x, y));  // (rows, n, n, m)
  const Tensor allocation =
      sum(allocations * reshape(identity(*values.graph, n), {n, n, 1}), {2});  // (rows, n, m)
  const Tensor fraction = reshape(sigmoid(payment_(seen_by_liars(y, x))), {kRows, n});
  return sum(allocation * values, {-1}) - fraction * sum(allocation * reports, {-1});
}

}  // namespace agora::auctions

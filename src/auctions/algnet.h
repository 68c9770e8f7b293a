#pragma once
#include "auctions/network.h"
#include "nn/layers.h"

// ALGnet's auctioneer (thesis, ch. 5, "Architecture and training procedure").
namespace agora::auctions {

// Bids as each bidder sees them, its own first: (rows, ..., n, m) -> (rows, ..., n, n * m).
compute::Tensor seen_by_each(compute::Tensor bids);

// A network that sees all bids at once.
nn::Mlp fully_connected(compute::Graph& graph, const char* name, const Architecture& architecture,
                        int64_t outputs);

class Auctioneer {
 public:
  Auctioneer(compute::Graph& graph, const Architecture& architecture);
  Decision operator()(compute::Tensor bids) const;
  // The utility of each bidder when it alone reports `reports` instead of `values`, both
  // (rows, n, m): (rows, n). Leaves out the payments of the others.
  compute::Tensor deviating_utility(compute::Tensor values, compute::Tensor reports) const;

 private:
  compute::Tensor allocate(compute::Tensor scaled_bids) const;
  Architecture architecture_;
  nn::Mlp sold_, split_, payment_;
};

}  // namespace agora::auctions

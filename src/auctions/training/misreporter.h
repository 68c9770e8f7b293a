#pragma once
#include "auctions/network.h"
#include "nn/layers.h"

namespace agora::auctions {

// Of slopes of the mean over a batch, so that short products keep them.
constexpr double kMisreporterScale = 1 << 17;

// The best lie of each bidder, as a network guesses it from everybody's values.
class Misreporter {
 public:
  Misreporter(compute::Graph& graph, const Architecture& architecture, const Setting& setting);
  compute::Tensor operator()(compute::Tensor values) const;  // (rows, n, m)

 private:
  Architecture architecture_;
  bool bounded_;
  nn::Mlp net_;
};

}  // namespace agora::auctions

#pragma once
#include "auctions/network.h"

// The graph of a lie: what a bidder gains when it alone reports something else.
namespace agora::auctions {

compute::Tensor identity(compute::Graph& graph, int64_t n);  // (n, n)

// Bidder i's misreport in row i of profile i: (rows, n, m) twice -> (rows, n, n, m).
compute::Tensor misreport_profiles(compute::Tensor values, compute::Tensor misreports);

// The utility of each bidder in its own misreport profile: (rows, n).
compute::Tensor misreport_utilities(const Network& network, compute::Tensor values,
                                    compute::Tensor misreports);

struct AscentPlan {
  int steps = 25;
  double rate = 0.1, final_rate = 0.1;  // in units of `range`
  bool keep_best = false;
  std::vector<double> low, high, range;  // (n, m): where bids may be, and the length of a step
};
// Steps of Adam on one bidder's report. A row is a profile (rows, n, m) and a bidder: `own`
// (rows, n) marks it, the best of `starts` (rows, k, m) is where its report begins. Gives reports
// (rows, m).
compute::Tensor ascend(const Network& network, compute::Tensor values, compute::Tensor own,
                       compute::Tensor starts, const AscentPlan& plan);

}  // namespace agora::auctions

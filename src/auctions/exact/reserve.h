#pragma once
#include <utility>
#include <vector>

namespace agora::auctions {

// The reserve at which sales, each a highest and a second bid, earn most together.
double best_reserve(const std::vector<std::pair<double, double>>& sales);

}  // namespace agora::auctions

#include "auctions/exact/reserve.h"

#include <algorithm>
#include <functional>

namespace agora::auctions {

// A sale at reserve r earns the second bid where that is at least r, else r if the highest bid is.
// Only highest bids need be tried.
double best_reserve(const std::vector<std::pair<double, double>>& sales) {
  std::vector<double> highest, second;
  for (const auto& [first, next] : sales) highest.push_back(first), second.push_back(next);
  std::sort(highest.begin(), highest.end(), std::greater<>());
  std::sort(second.begin(), second.end(), std::greater<>());
  double best = 0.0, most = 0.0, competitive = 0.0;
  for (const double bid : second) most += bid;  // without a reserve
  size_t contested = 0;
  for (size_t sold = 1; sold <= highest.size(); ++sold) {
    const double reserve = highest[sold - 1];
    if (sold < highest.size() && highest[sold] == reserve) continue;
    while (contested < second.size() && second[contested] >= reserve) {
      competitive += second[contested++];
    }
    const double earned = competitive + reserve * static_cast<double>(sold - contested);
    if (earned > most) most = earned, best = reserve;
  }
  return best;
}

}  // namespace agora::auctions

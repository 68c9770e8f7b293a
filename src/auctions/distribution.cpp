#include "auctions/distribution.h"

#include <cmath>

namespace agora::auctions {

const std::vector<Atom>& Distribution::atoms() const {
  static const std::vector<Atom> none;
  return none;
}

double Distribution::quantile(double q) const {
  auto [low, high] = support();
  if (q <= 0.0) return low;
  if (std::isinf(high)) {
    if (q >= 1.0) return high;
    high = low + 1.0;
    while (cdf(high) < q) high = low + 2.0 * (high - low);
  }
  for (int step = 0; step < 200; ++step) {
    const double middle = low + 0.5 * (high - low);
    if (middle <= low || middle >= high) break;
    (cdf(middle) >= q ? high : low) = middle;
  }
  return high;
}

double survival(const Distribution& law, double x) {
  if (law.atoms().empty()) return 1.0 - law.cdf(x);
  double sum = 0.0;
  for (const Atom& atom : law.atoms()) sum += atom.value >= x ? atom.probability : 0.0;
  return sum;
}

}  // namespace agora::auctions

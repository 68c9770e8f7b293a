#include "auctions/exact/straight_jacket.h"

#include <cmath>

#include "base/error.h"

namespace agora::auctions {
namespace {

double binomial(int n, int k) {
  double result = 1.0;
  for (int i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
  return result;
}

// Volumes of the bodies whose bounds are c[a+1] - c[a], ..., c[a+k] - c[a]. A facet where j
// coordinates meet their bound is a product of the base of the first j bounds and the body (or
// base) of the rest; the whole is the union of the pyramids over its facets.
class Volumes {
 public:
  explicit Volumes(std::vector<double> c) : c_(std::move(c)) {  // c[0] = 0
    const size_t n = c_.size();
    base_.assign(n, std::vector<double>(n, -1.0));
  }

  double body(int a, int k) {
    if (k == 0) return 1.0;
    double sum = 0.0;
    for (int j = 1; j <= k; ++j) {
      sum += binomial(k, j) * (c_[a + j] - c_[a]) * base(a, j) * body(a + j, k - j);
    }
    return sum / k;
  }

 private:
  // The face where all k coordinates together meet their bound, with one coordinate left out.
  double base(int a, int k) {
    if (k <= 1) return 1.0;
    double& known = base_[a][k];
    if (known >= 0.0) return known;
    double sum = 0.0;
    for (int j = 1; j < k; ++j) {
      const double height = (c_[a + j] - c_[a]) - (c_[a + k] - c_[a]) * j / k;
      sum += binomial(k, j) * height * base(a, j) * base(a + j, k - j);
    }
    return known = sum / (k - 1);
  }

  std::vector<double> c_;
  std::vector<std::vector<double>> base_;
};

}  // namespace

double symmetric_volume(const std::vector<double>& bounds) {
  std::vector<double> c{0.0};
  c.insert(c.end(), bounds.begin(), bounds.end());
  return Volumes(std::move(c)).body(0, static_cast<int>(bounds.size()));
}

// The price of r of m items is (r m - mu_r) / (m + 1). In the region where all of r items are
// sold, the mass (m + 1) of its inside equals the mass 1 of each of its r outer faces; in
// coordinates (m + 1)(1 - x) the region is {any k sum to at most k + mu_r - mu_(r-k)}, and mu_r is
// where its volume is r times that of its face.
std::vector<double> straight_jacket_prices(int items) {
  std::vector<double> mu{0.0};
  for (int r = 1; r <= items; ++r) {
    const auto excess = [&](double trial) {
      std::vector<double> bounds(r);
      for (int k = 1; k <= r; ++k) bounds[k - 1] = k + trial - mu[r - k];
      const double whole = symmetric_volume(bounds);
      bounds.pop_back();
      return whole - r * symmetric_volume(bounds);
    };
    // From there on the bounds are concave; mu_1 is 0.
    double low = r == 1 ? 0.0 : 2 * mu[r - 1] - mu[r - 2], high = low;
    for (double width = 1.0; r > 1 && excess(high) < 0.0; width *= 2.0) high = low + width;
    for (int step = 0; step < 200 && low < high; ++step) {
      const double middle = 0.5 * (low + high);
      (excess(middle) < 0.0 ? low : high) = middle;
    }
    mu.push_back(0.5 * (low + high));
  }
  std::vector<double> prices;
  for (int r = 1; r <= items; ++r) prices.push_back((r * items - mu[r]) / (items + 1.0));
  return prices;
}

}  // namespace agora::auctions

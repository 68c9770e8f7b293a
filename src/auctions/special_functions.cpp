#include "auctions/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace agora::auctions {

double normal_density(double z) {
  return std::exp(-0.5 * z * z) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// A rational first guess (Abramowitz and Stegun 26.2.23, error below 4.5e-4), then Halley steps
// on the cdf, each of which triples the number of right digits.
double normal_quantile(double p) {
  if (p <= 0.0) return -std::numeric_limits<double>::infinity();
  if (p >= 1.0) return std::numeric_limits<double>::infinity();
  if (p == 0.5) return 0.0;
  const double tail = p < 0.5 ? p : 1.0 - p;
  const double t = std::sqrt(-2.0 * std::log(tail));
  double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                     (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int step = 0; step < 2; ++step) {  // on the upper tail, where erfc loses nothing
    const double error = (tail - normal_cdf(-z)) / normal_density(z);
    z -= error / (1.0 + 0.5 * z * error);
  }
  return p < 0.5 ? -z : z;
}

namespace {

// Lentz's evaluation of the continued fraction, which converges fast below the mean.
double beta_fraction(double a, double b, double x) {
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x)) /
                       a;
  constexpr double kTiny = 1e-300;
  double c = 1.0, d = 0.0, fraction = 1.0;
  for (int i = 0; i <= 500; ++i) {
    const int k = i / 2;
    double numerator = 1.0;
    if (i > 0 && i % 2 == 0) {
      numerator = k * (b - k) * x / ((a + 2.0 * k - 1.0) * (a + 2.0 * k));
    } else if (i % 2 == 1) {
      numerator = -(a + k) * (a + b + k) * x / ((a + 2.0 * k) * (a + 2.0 * k + 1.0));
    }
    d = 1.0 + numerator * d;
    d = 1.0 / (std::abs(d) < kTiny ? kTiny : d);
    c = 1.0 + numerator / c;
    if (std::abs(c) < kTiny) c = kTiny;
    fraction *= c * d;
    if (std::abs(1.0 - c * d) < 1e-15) break;
  }
  return front * (fraction - 1.0);
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  if (x > (a + 1.0) / (a + b + 2.0)) return 1.0 - beta_fraction(b, a, 1.0 - x);
  return beta_fraction(a, b, x);
}

}  // namespace agora::auctions

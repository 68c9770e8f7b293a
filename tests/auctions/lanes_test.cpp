#include "auctions/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "base/rng.h"

namespace agora::auctions {
namespace {

std::vector<double> numbers(size_t count, uint64_t seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> odd{0.0, -0.0, kInfinity, -kInfinity, kInfinity - kInfinity};
  Rng rng(seed);
  std::vector<double> all(count);
  for (double& each : all) each = rng.below(3) > 0 ? rng.normal() : odd[rng.below(5)];
  return all;
}

TEST(Lanes, FourAreAsOne) {
  for (size_t count = 0; count < 20; ++count) {
    const std::vector<double> a = numbers(count, 2 * count), b = numbers(count, 2 * count + 1);
    const std::vector<float> single(a.begin(), a.end());
    std::vector<double> high(count), low(count), wide(count);
    std::vector<float> rounded(count);
    std::vector<uint8_t> above(count, 7);
    in_fours(static_cast<int64_t>(count), [&]<typename Real>(int64_t k) {
      const auto x = load<Real>(&a[k]), y = load<Real>(&b[k]);
      store(&high[k], larger(x, y));
      store(&low[k], smaller(x, y));
      store(&wide[k], load<Real>(&single[k]));
      store(&rounded[k], y);
      store(&above[k], x > y);
    });
    for (size_t k = 0; k < count; ++k) {
      const auto bits = [](double x) { return std::bit_cast<uint64_t>(x); };
      EXPECT_EQ(bits(high[k]), bits(std::max(a[k], b[k])));
      EXPECT_EQ(bits(low[k]), bits(std::min(a[k], b[k])));
      EXPECT_EQ(bits(wide[k]), bits(double{single[k]}));
      EXPECT_EQ(bits(rounded[k]), bits(static_cast<float>(b[k])));
      EXPECT_EQ(above[k], a[k] > b[k] ? 1 : 0);
    }
  }
}

TEST(Lanes, FindsEveryEqual) {
  const std::vector<double> values{0, 1, 1, 2, 1, 0, 0, 1, 3, 1, 1};
  for (int64_t count = 0; count <= 11; ++count) {
    std::vector<int64_t> expected, found;
    for (int64_t k = 0; k < count; ++k) {
      if (values[k] == 1) expected.push_back(k);
    }
    where_equal(values.data(), count, 1.0, [&](int64_t k) { found.push_back(k); });
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace agora::auctions

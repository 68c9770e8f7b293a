#include "nn/initialisers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace agora::nn {
namespace {

std::vector<double> draw(const Initializer& initial, const compute::Shape& shape, uint64_t seed) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  std::vector<double> values(static_cast<size_t>(count));
  Rng rng(seed);
  initial(values, shape, rng);
  return values;
}

double variance(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value * value;
  return sum / static_cast<double>(values.size());
}

TEST(Initialisers, UniformOnesHaveTheirBoundsAndVariance) {
  const double bound = std::sqrt(6.0 / 300);
  const auto glorot = draw(glorot_uniform(), {100, 200}, 1);
  for (double value : glorot) ASSERT_LE(std::fabs(value), bound);
  EXPECT_NEAR(variance(glorot), bound * bound / 3, 1e-4);
  EXPECT_NEAR(variance(draw(xavier_uniform(kTanhGain), {100, 200}, 1)),
              kTanhGain * kTanhGain * bound * bound / 3, 3e-4);
}

TEST(Initialisers, FansOfAConvolutionCountItsTaps) {
  EXPECT_NEAR(variance(draw(glorot_uniform(), {3, 3, 32, 64}, 2)), 2.0 / (9 * 96), 1e-4);
  EXPECT_NEAR(variance(draw(he_normal(), {3, 3, 32, 64}, 2)), 2.0 / (9 * 32), 2e-4);
}

TEST(Initialisers, OrthogonalIsOrthogonalAlongTheShorterSide) {
  for (auto [rows, columns] : {std::pair{7, 4}, {4, 7}, {5, 5}}) {
    const double gain = 1.5;
    const auto w = draw(orthogonal(gain), {rows, columns}, 3);
    const bool tall = rows >= columns;
    const int count = tall ? columns : rows, length = tall ? rows : columns;
    const auto at = [&](int k, int i) { return tall ? w[i * columns + k] : w[k * columns + i]; };
    for (int a = 0; a < count; ++a) {
      for (int b = 0; b < count; ++b) {
        double product = 0;
        for (int i = 0; i < length; ++i) product += at(a, i) * at(b, i);
        ASSERT_NEAR(product, a == b ? gain * gain : 0.0, 1e-12);
      }
    }
  }
}

TEST(Initialisers, TheSeedDecides) {
  EXPECT_EQ(draw(he_normal(), {5, 6}, 9), draw(he_normal(), {5, 6}, 9));
  EXPECT_NE(draw(he_normal(), {5, 6}, 9), draw(he_normal(), {5, 6}, 10));
}

}  // namespace
}  // namespace agora::nn

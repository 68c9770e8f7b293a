#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "compute/cpu/kernels.h"

namespace agora::compute::cpu {
namespace {

template <typename Real>
std::vector<Real> random_values(int64_t count, uint32_t stream) {
  Rng rng(29, stream);
  std::vector<Real> values(static_cast<size_t>(count));
  for (Real& value : values) value = static_cast<Real>(rng.uniform(-1, 1));
  return values;
}

struct Image {
  int64_t height, width, in, out, lanes;
};
const Image kImages[] = {{1, 1, 1, 1, 16},   {1, 2, 3, 16, 16}, {5, 7, 3, 16, 16},
                         {8, 8, 16, 32, 16}, {4, 3, 5, 11, 32}, {6, 4, 32, 32, 16},
                         {3, 5, 2, 40, 16}};

template <typename Real>
class ConvOf : public ::testing::Test {
 protected:
  static constexpr double kTolerance = std::is_same_v<Real, float> ? 2e-5 : 1e-13;
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ConvOf, Reals);

// visit(x index, w index, y index) for every product of the definition, lane by lane.
template <typename Visit>
void for_each_product(const Image& image, Visit visit) {
  const auto [height, width, in, out, lanes] = image;
  for (int64_t h = 0; h < height; ++h) {
    for (int64_t w = 0; w < width; ++w) {
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 3; ++j) {
          const int64_t from_h = h + i - 1, from_w = w + j - 1;
          if (from_h < 0 || from_h >= height || from_w < 0 || from_w >= width) continue;
          for (int64_t c = 0; c < in; ++c) {
            for (int64_t o = 0; o < out; ++o) {
              for (int64_t r = 0; r < lanes; ++r) {
                visit(((from_h * width + from_w) * in + c) * lanes + r,
                      ((i * 3 + j) * in + c) * out + o, ((h * width + w) * out + o) * lanes + r, r);
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(ConvOf, ForwardAndInputGradientMatchTheDefinition) {
  using Real = TypeParam;
  for (const Image& image : kImages) {
    const auto [height, width, in, out, lanes] = image;
    const auto x = random_values<Real>(height * width * in * lanes, 1);
    const auto weights = random_values<Real>(9 * in * out, 2);
    const auto bias = random_values<Real>(out, 3);
    const auto dy = random_values<Real>(height * width * out * lanes, 4);
    std::vector<Real> y(dy.size()), dx(x.size());
    kernels<Real>().conv3x3(
        {x.data(), weights.data(), bias.data(), y.data(), height, width, in, out, lanes});
    kernels<Real>().conv3x3_input(
        {dy.data(), weights.data(), dx.data(), height, width, in, out, lanes});
    std::vector<double> expected_y(y.size()), expected_dx(x.size());
    for (size_t k = 0; k < y.size(); ++k) expected_y[k] = bias[k / lanes % out];
    for_each_product(image, [&](int64_t at_x, int64_t at_w, int64_t at_y, int64_t) {
      expected_y[at_y] += static_cast<double>(x[at_x]) * weights[at_w];
      expected_dx[at_x] += static_cast<double>(dy[at_y]) * weights[at_w];
    });
    for (size_t k = 0; k < y.size(); ++k) ASSERT_NEAR(y[k], expected_y[k], this->kTolerance);
    for (size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(dx[k], expected_dx[k], this->kTolerance);
  }
}

TYPED_TEST(ConvOf, WeightGradientSumsTheRowsOfTheTileOnly) {
  using Real = TypeParam;
  for (const Image& image : kImages) {
    const auto [height, width, in, out, lanes] = image;
    for (int64_t rows : {lanes, int64_t{5}}) {
      auto x = random_values<Real>(height * width * in * lanes, 1);
      auto dy = random_values<Real>(height * width * out * lanes, 2);
      for (size_t k = 0; k < x.size(); ++k) {
        if (static_cast<int64_t>(k) % lanes >= rows) x[k] = std::numeric_limits<Real>::infinity();
      }
      auto dw = random_values<Real>(9 * in * out, 3);
      std::vector<double> expected(dw.begin(), dw.end());
      std::vector<Real> scratch(width * out * lanes + 64);
      kernels<Real>().conv3x3_weight(
          {x.data(), dy.data(), dw.data(), height, width, in, out, lanes, rows, scratch.data()});
      for_each_product(image, [&](int64_t at_x, int64_t at_w, int64_t at_y, int64_t r) {
        if (r < rows) expected[at_w] += static_cast<double>(x[at_x]) * dy[at_y];
      });
      for (size_t k = 0; k < dw.size(); ++k) ASSERT_NEAR(dw[k], expected[k], 10 * this->kTolerance);
    }
  }
}

TYPED_TEST(ConvOf, PoolTakesTheMaximumAndItsGradientTheFirstOfEquals) {
  using Real = TypeParam;
  for (auto [height, width] : {std::pair{8, 8}, {7, 5}, {1, 1}, {2, 3}}) {
    const int64_t channels = 3, lanes = 16, vector = channels * lanes;
    const int64_t out_height = (height + 1) / 2, out_width = (width + 1) / 2;
    auto x = random_values<Real>(height * width * vector, 1);
    for (Real& value : x) value = std::round(value * 3);  // many equal ones
    const auto dy = random_values<Real>(out_height * out_width * vector, 2);
    std::vector<Real> y(dy.size()), dx(x.size(), Real(5)), expected(x.size());
    kernels<Real>().pool({x.data(), y.data(), nullptr, nullptr, height, width, channels, lanes});
    kernels<Real>().pool_gradient(
        {x.data(), nullptr, dy.data(), dx.data(), height, width, channels, lanes});
    for (int64_t h = 0; h < out_height; ++h) {
      for (int64_t w = 0; w < out_width; ++w) {
        for (int64_t k = 0; k < vector; ++k) {
          int64_t best = -1;
          for (int64_t i = 2 * h - 1; i <= 2 * h + 1; ++i) {
            for (int64_t j = 2 * w - 1; j <= 2 * w + 1; ++j) {
              if (i < 0 || i >= height || j < 0 || j >= width) continue;
              const int64_t at = (i * width + j) * vector + k;
              if (best < 0 || x[at] > x[best]) best = at;
            }
          }
          const int64_t at = (h * out_width + w) * vector + k;
          ASSERT_EQ(y[at], x[best]);
          expected[best] += dy[at];
        }
      }
    }
    for (size_t k = 0; k < dx.size(); ++k) ASSERT_NEAR(dx[k], expected[k], this->kTolerance);
  }
}

}  // namespace
}  // namespace agora::compute::cpu

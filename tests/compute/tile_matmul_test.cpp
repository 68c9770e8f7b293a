#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "compute/cpu/kernels.h"

namespace agora::compute::cpu {
namespace {

template <typename Real>
std::vector<Real> random_values(int64_t count, uint32_t stream) {
  Rng rng(23, stream);
  std::vector<Real> values(static_cast<size_t>(count));
  for (Real& value : values) value = static_cast<Real>(rng.uniform(-1, 1));
  return values;
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kRelu:
      return std::fmax(x, 0.0);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kSoftplus:
      return std::log1p(std::exp(x));
  }
  return NAN;
}

template <typename Real>
class TileOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TileOf, Reals);

TYPED_TEST(TileOf, MatmulBothWaysWithBiasAndActivation) {
  using Real = TypeParam;
  const double tolerance = std::is_same_v<Real, float> ? 2e-5 : 1e-13;
  for (int64_t lanes : {16, 32, 64}) {
    for (auto [in, out] : {std::pair{2, 100}, {100, 1}, {25, 30}, {1, 1}, {7, 6}}) {
      for (Activation activation : {Activation::kNone, Activation::kTanh, Activation::kRelu,
                                    Activation::kSigmoid, Activation::kSoftplus}) {
        for (bool transposed : {false, true}) {
          const auto x = random_values<Real>(in * lanes, 1), w = random_values<Real>(in * out, 2);
          const auto bias = random_values<Real>(out, 3);
          auto y = random_values<Real>(out * lanes, 4);
          const auto before = y;
          const int64_t w_in = transposed ? 1 : out, w_out = transposed ? in : 1;
          kernels<Real>().matmul({x.data(), lanes, w.data(), w_in, w_out, bias.data(), y.data(),
                                  lanes, in, out, lanes, activation, transposed});
          for (int64_t o = 0; o < out; ++o) {
            for (int64_t r = 0; r < lanes; ++r) {
              double sum = bias[o] + (transposed ? before[o * lanes + r] : Real(0));
              for (int64_t k = 0; k < in; ++k) {
                sum += static_cast<double>(w[k * w_in + o * w_out]) * x[k * lanes + r];
              }
              ASSERT_NEAR(y[o * lanes + r], activated(activation, sum), tolerance);
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(TileOf, OuterLeavesOutThePaddingWhateverItHolds) {
  using Real = TypeParam;
  const double tolerance = std::is_same_v<Real, float> ? 2e-5 : 1e-13;
  for (int64_t lanes : {16, 32, 64}) {
    for (int64_t rows : {int64_t{1}, lanes - 3, lanes}) {
      for (auto [in, out] :
           {std::pair{2, 100}, {100, 1}, {100, 2}, {25, 25}, {1, 1}, {30, 7}, {3, 3}, {100, 100}}) {
        auto x = random_values<Real>(in * lanes, 1), dy = random_values<Real>(out * lanes, 2);
        for (int64_t r = rows; r < lanes; ++r) {
          for (int64_t k = 0; k < in; ++k) x[k * lanes + r] = std::numeric_limits<Real>::infinity();
          for (int64_t o = 0; o < out; ++o) dy[o * lanes + r] = NAN;
        }
        auto dw = random_values<Real>(in * out, 3);
        const auto before = dw;
        std::vector<Real> scratch(out * lanes + 64);
        kernels<Real>().outer(
            {x.data(), lanes, dy.data(), lanes, dw.data(), in, out, lanes, rows, scratch.data()});
        for (int64_t k = 0; k < in; ++k) {
          for (int64_t o = 0; o < out; ++o) {
            double sum = before[k * out + o];
            for (int64_t r = 0; r < rows; ++r) {
              sum += static_cast<double>(x[k * lanes + r]) * dy[o * lanes + r];
            }
            ASSERT_NEAR(dw[k * out + o], sum, tolerance) << in << "x" << out << " rows " << rows;
          }
        }
      }
    }
  }
}

// The same bits, whether features that are zero in the whole tile are left out or not.
template <typename Real>
void expect_same(const std::vector<Real>& one, const std::vector<Real>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i) {
    ASSERT_TRUE((std::isnan(one[i]) && std::isnan(other[i])) ||
                std::memcmp(&one[i], &other[i], sizeof(Real)) == 0)
        << one[i] << " " << other[i] << " at " << i;
  }
}

// Features of which every third, but for one lane of some, is not zero.
template <typename Real>
std::vector<Real> mostly_zeros(int64_t in, int64_t lanes, std::vector<int32_t>& nonzero) {
  auto x = random_values<Real>(in * lanes, 1);
  for (Real& each : x) each = std::abs(each);
  for (int64_t k = 0; k < in; ++k) {
    if (k % 3 == 0) {
      x[k * lanes] = 0;  // decides nothing
      nonzero.push_back(static_cast<int32_t>(k));
      continue;
    }
    for (int64_t r = 0; r < lanes; ++r) x[k * lanes + r] = Real(r % 2 == 0 ? 0.0 : -0.0);
    if (k % 10 == 1) {
      x[(k + 1) * lanes - 1] = Real(0.5);
      nonzero.push_back(static_cast<int32_t>(k));
    }
  }
  return x;
}

TYPED_TEST(TileOf, MatmulLeavesOutZeros) {
  using Real = TypeParam;
  for (const int64_t lanes : {16, 32, 64}) {
    for (const int64_t out : {1, 7, 64, 70}) {
      for (const bool accumulate : {false, true}) {
        const int64_t in = 100;
        std::vector<int32_t> nonzero;
        const auto x = mostly_zeros<Real>(in, lanes, nonzero);
        auto w = random_values<Real>(in * out, 2), bias = random_values<Real>(out, 3);
        bias[0] = Real(-0.0);
        for (int64_t k = 0; k < in; ++k) w[k * out] = Real(-0.0);  // sums of nothing but zeros
        auto dense = random_values<Real>(out * lanes, 4);
        std::fill_n(dense.begin(), lanes, Real(-0.0));
        auto sparse = dense;
        const auto run = [&](std::vector<Real>& y, int32_t* chosen) {
          kernels<Real>().matmul({x.data(), lanes, w.data(), out, 1, bias.data(), y.data(), lanes,
                                  in, out, lanes, Activation::kNone, accumulate, chosen});
        };
        std::vector<int32_t> chosen(in);
        run(dense, nullptr);
        run(sparse, chosen.data());
        expect_same(dense, sparse);
        ASSERT_TRUE(std::equal(nonzero.begin(), nonzero.end(), chosen.begin()));
        // A weight that is none is seen, although it meets only zeros.
        w[2 * out + out - 1] = std::numeric_limits<Real>::infinity();
        run(dense, nullptr);
        run(sparse, chosen.data());
        expect_same(dense, sparse);
        ASSERT_TRUE(std::isnan(sparse[(out - 1) * lanes]));
      }
    }
  }
}

TYPED_TEST(TileOf, OuterLeavesOutZeros) {
  using Real = TypeParam;
  for (const int64_t lanes : {16, 32, 64}) {
    for (const int64_t rows : {lanes - 3, lanes}) {
      for (const int64_t out : {1, 16, 30, 64}) {
        const int64_t in = 100;
        std::vector<int32_t> nonzero, chosen(in);
        const auto x = mostly_zeros<Real>(in, lanes, nonzero);
        auto dy = random_values<Real>(out * lanes, 2), dense = random_values<Real>(in * out, 3);
        auto sparse = dense;
        std::vector<Real> scratch(out * lanes + 64);
        const auto run = [&](std::vector<Real>& dw, int32_t* room) {
          kernels<Real>().outer({x.data(), lanes, dy.data(), lanes, dw.data(), in, out, lanes, rows,
                                 scratch.data(), room});
        };
        run(dense, nullptr);
        run(sparse, chosen.data());
        expect_same(dense, sparse);
        if (out == 64) {
          ASSERT_TRUE(std::equal(nonzero.begin(), nonzero.end(), chosen.begin()));
        }
        dy[1] = NAN;
        run(dense, nullptr);
        run(sparse, chosen.data());
        expect_same(dense, sparse);
        ASSERT_TRUE(std::isnan(sparse[2 * out]));
      }
    }
  }
}

}  // namespace
}  // namespace agora::compute::cpu

#include "compute/cpu/kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace agora::compute::cpu {
namespace {

template <typename Real>
std::vector<Real> random_values(int64_t count, uint32_t stream) {
  Rng rng(17, stream);
  std::vector<Real> values(static_cast<size_t>(count));
  for (Real& value : values) value = static_cast<Real>(rng.uniform(-1, 1));
  return values;
}

struct Size {
  int64_t m, n, k;
};

// Every remainder of the blocks in both directions, and the sizes of our networks.
std::vector<Size> sizes() {
  std::vector<Size> all;
  for (int64_t m = 1; m <= 18; ++m) all.push_back({m, 16, 5});
  for (int64_t n = 1; n <= 70; ++n) all.push_back({7, n, 3});
  for (int64_t width : {25, 30, 100}) {
    for (int64_t lanes : {16, 32, 64}) all.push_back({width, lanes, width});
  }
  all.push_back({100, 64, 2});
  all.push_back({1, 64, 100});
  all.push_back({130, 257, 200});
  all.push_back({3, 8, 1024});
  return all;
}

template <typename Real>
class GemmOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GemmOf, Reals);

// The definition, in double, with the same strides.
template <typename Real>
std::vector<double> by_definition(const Gemm<Real>& job, const std::vector<Real>& before) {
  std::vector<double> result(before.begin(), before.end());
  for (int64_t i = 0; i < job.m; ++i) {
    for (int64_t j = 0; j < job.n; ++j) {
      double sum = job.accumulate ? before[i * job.c_row + j] : 0.0;
      if (job.row_bias) sum += job.row_bias[i];
      for (int64_t p = 0; p < job.k; ++p) {
        sum +=
            static_cast<double>(job.a[i * job.a_row + p * job.a_column]) * job.b[p * job.b_row + j];
      }
      result[i * job.c_row + j] = sum;
    }
  }
  return result;
}

TYPED_TEST(GemmOf, MatchesTheDefinitionForEverySizeAndStride) {
  using Real = TypeParam;
  const double unit = std::is_same_v<Real, float> ? 6e-8 : 2e-16;
  for (const Size& size : sizes()) {
    for (bool transposed : {false, true}) {
      for (bool accumulate : {false, true}) {
        const int64_t pad = 3;  // rows of b and c are farther apart than they are long
        const auto a = random_values<Real>(size.m * size.k, 1);
        const auto b = random_values<Real>(size.k * (size.n + pad), 2);
        const auto bias = random_values<Real>(size.m, 3);
        auto c = random_values<Real>(size.m * (size.n + pad), 4);
        const auto before = c;
        const Gemm<Real> job{size.m,
                             size.n,
                             size.k,
                             a.data(),
                             transposed ? 1 : size.k,
                             transposed ? size.m : 1,
                             b.data(),
                             size.n + pad,
                             c.data(),
                             size.n + pad,
                             transposed ? nullptr : bias.data(),
                             accumulate};
        const auto expected = by_definition(job, before);
        gemm(job);
        for (size_t i = 0; i < c.size(); ++i) {
          ASSERT_NEAR(c[i], expected[i], unit * (8.0 + static_cast<double>(size.k)))
              << size.m << " " << size.n << " " << size.k << " element " << i;
        }
      }
    }
  }
}

TYPED_TEST(GemmOf, AnElementDoesNotDependOnItsPlaceInTheTile) {
  using Real = TypeParam;
  const int64_t k = 37, n = 100, m = 29;
  const auto a = random_values<Real>(k, 1), b = random_values<Real>(k, 2);
  std::vector<Real> as(m * k), bs(k * n), c(m * n);
  for (int64_t i = 0; i < m; ++i) std::copy(a.begin(), a.end(), as.begin() + i * k);
  for (int64_t p = 0; p < k; ++p) std::fill_n(bs.begin() + p * n, n, b[p]);
  gemm<Real>({m, n, k, as.data(), k, 1, bs.data(), n, c.data(), n});
  Real chain = 0;
  for (int64_t p = 0; p < k; ++p) chain = std::fma(a[p], b[p], chain);
  for (const Real& value : c) ASSERT_EQ(value, chain);
}

TYPED_TEST(GemmOf, BlocksCoverTheResultOnceAndInTime) {
  using Real = TypeParam;
  const int64_t m = 23, n = 77, k = 4;
  const auto a = random_values<Real>(m * k, 1), b = random_values<Real>(k * n, 2);
  std::vector<Real> plain(m * n), doubled(m * n);
  gemm<Real>({m, n, k, a.data(), k, 1, b.data(), n, plain.data(), n});
  gemm<Real>({m, n, k, a.data(), k, 1, b.data(), n, doubled.data(), n},
             [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
               for (int64_t i = row; i < row + rows; ++i) {
                 for (int64_t j = column; j < column + columns; ++j) doubled[i * n + j] *= 2;
               }
             });
  for (int64_t i = 0; i < m * n; ++i) ASSERT_EQ(doubled[i], 2 * plain[i]);
}

TYPED_TEST(GemmOf, TransposesAnyRectangle) {
  using Real = TypeParam;
  for (int64_t rows : {1, 5, 8, 16, 17, 33, 64}) {
    for (int64_t columns : {1, 4, 16, 25, 40}) {
      const auto in = random_values<Real>(rows * (columns + 2), 1);
      std::vector<Real> out(columns * (rows + 1), Real(9));
      transpose(rows, columns, in.data(), columns + 2, out.data(), rows + 1);
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t r = 0; r < rows; ++r) {
          ASSERT_EQ(out[c * (rows + 1) + r], in[r * (columns + 2) + c]);
        }
        ASSERT_EQ(out[c * (rows + 1) + rows], Real(9));
      }
    }
  }
}

}  // namespace
}  // namespace agora::compute::cpu

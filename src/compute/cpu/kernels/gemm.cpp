#include "compute/cpu/kernels/gemm.h"

#include <array>
#include <utility>

#include "compute/cpu/kernels/simd.h"

namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {
namespace {

// Registers bound the block: rows * vectors accumulators, one register per vector of b and one
// for the scalar of a. AVX-512 has 32 registers, AVX2 has 16.
#if AGORA_AVX512
constexpr int kMaxVectors = 4;
constexpr std::array<int, kMaxVectors + 1> kMaxRows{0, 16, 14, 8, 6};
#else
constexpr int kMaxVectors = 2;
constexpr std::array<int, kMaxVectors + 1> kMaxRows{0, 12, 6};
#endif

using detail::GemmKind;

// Never -0, so that a sum to which zeros are added has the same bits as one without them.
template <typename Real>
Real start_of(const Gemm<Real>& job, int64_t row) {
  return job.row_bias ? job.row_bias[row] + Real(0) : Real(0);
}

template <typename Real, int kRows, int kVectors, GemmKind kKind>
void block(const Gemm<Real>& job, int64_t row, int64_t column, int64_t last) {
  using V = Vec<Real>;
  constexpr bool kPartial = kKind == GemmKind::kPartial;
  V sum[kRows][kVectors];
  Real* c = job.c + row * job.c_row + column;
  const auto load = [last](const Real* from, int v) {
    return kPartial && v == kVectors - 1 ? V::load(from + v * V::kLanes, last)
                                         : V::load(from + v * V::kLanes);
  };
  for (int i = 0; i < kRows; ++i) {
    const V bias(start_of(job, row + i));
    for (int v = 0; v < kVectors; ++v) {
      sum[i][v] = job.accumulate ? load(c + i * job.c_row, v) + bias : bias;
    }
  }
  const Real* a = job.a + row * job.a_row;
  const Real* b = job.b + column;
  const int64_t a_row = job.a_row, a_column = job.a_column, b_row = job.b_row;
  const auto add = [&](const Real* a_now, const Real* b_now) {
    V right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = load(b_now, v);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V left(a_now[i * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[i][v] = fma(left, right[v], sum[i][v]);
    }
  };
  if constexpr (kKind == GemmKind::kChosenK) {
    for (int64_t p = 0; p < job.k; ++p) {
      add(a + job.chosen_k[p] * a_column, b + job.chosen_k[p] * b_row);
    }
  } else {
    for (int64_t p = job.k; p > 0; --p, a += a_column, b += b_row) add(a, b);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Real* to = c + i * job.c_row + v * V::kLanes;
      if (kPartial && v == kVectors - 1) {
        sum[i][v].store(to, last);
      } else {
        sum[i][v].store(to);
      }
    }
  }
}

// The same for rows of a and c that need not follow on each other.
template <typename Real, int kRows, int kVectors>
void block_of_chosen(const Gemm<Real>& job, int64_t row, int64_t column, int64_t) {
  using V = Vec<Real>;
  V sum[kRows][kVectors];
  const Real* a[kRows];
  Real* c[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const int64_t at = job.chosen_m[row + i];
    a[i] = job.a + at * job.a_row;
    c[i] = job.c + at * job.c_row + column;
    const V bias(start_of(job, at));
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[i][v] = job.accumulate ? V::load(c[i] + v * V::kLanes) + bias : bias;
    }
  }
  const Real* b = job.b + column;
  for (int64_t p = 0; p < job.k; ++p, b += job.b_row) {
    V right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) right[v] = V::load(b + v * V::kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V left(a[i][p * job.a_column]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[i][v] = fma(left, right[v], sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[i][v].store(c[i] + v * V::kLanes);
  }
}

template <typename Real, int kVectors, GemmKind kKind, int... kRows>
constexpr auto blocks_of_rows(std::integer_sequence<int, kRows...>) {
  if constexpr (kKind == GemmKind::kChosenM) {
    return std::array{&block_of_chosen<Real, kRows + 1, kVectors>...};
  } else {
    return std::array{&block<Real, kRows + 1, kVectors, kKind>...};
  }
}

template <typename Real, int kVectors>
detail::GemmBlock<Real> pick(int64_t rows, GemmKind kind) {
  using Rows = std::make_integer_sequence<int, kMaxRows[kVectors]>;
  static constexpr std::array kBlocks{blocks_of_rows<Real, kVectors, GemmKind::kWhole>(Rows()),
                                      blocks_of_rows<Real, kVectors, GemmKind::kPartial>(Rows()),
                                      blocks_of_rows<Real, kVectors, GemmKind::kChosenK>(Rows()),
                                      blocks_of_rows<Real, kVectors, GemmKind::kChosenM>(Rows())};
  return kBlocks[static_cast<size_t>(kind)][static_cast<size_t>(rows - 1)];
}

// A square of kLanes x kLanes by log2(kLanes) rounds of interleaving register i with i + kLanes/2.
template <typename Real>
void transpose_square(const Real* in, int64_t in_row, Real* out, int64_t out_row) {
  using V = Vec<Real>;
  using Type = typename V::Type;
  using Mask = typename V::Mask;
  constexpr int kLanes = V::kLanes;
  Mask low, high;
  for (int i = 0; i < kLanes; ++i) {
    low[i] = i / 2 + (i % 2) * kLanes;
    high[i] = kLanes / 2 + i / 2 + (i % 2) * kLanes;
  }
  Type rows[kLanes], next[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) rows[i] = V::load(in + i * in_row).raw;
#pragma GCC unroll 4
  for (int round = 1; round < kLanes; round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = shuffle(rows[i], rows[i + kLanes / 2], low);
      next[2 * i + 1] = shuffle(rows[i], rows[i + kLanes / 2], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) V(rows[i]).store(out + i * out_row);
}

}  // namespace

namespace detail {

int64_t gemm_max_rows(int64_t vectors) { return kMaxRows[static_cast<size_t>(vectors)]; }
int64_t gemm_max_vectors() { return kMaxVectors; }

template <typename Real>
int64_t gemm_lanes() {
  return Vec<Real>::kLanes;
}

template <typename Real>
GemmBlock<Real> gemm_block(int64_t rows, int64_t vectors, GemmKind kind) {
  switch (vectors) {
    case 1:
      return pick<Real, 1>(rows, kind);
    case 2:
      return pick<Real, 2>(rows, kind);
#if AGORA_AVX512
    case 3:
      return pick<Real, 3>(rows, kind);
    case 4:
      return pick<Real, 4>(rows, kind);
#endif
    default:
      return nullptr;
  }
}

template int64_t gemm_lanes<float>();
template int64_t gemm_lanes<double>();
template GemmBlock<float> gemm_block(int64_t, int64_t, GemmKind);
template GemmBlock<double> gemm_block(int64_t, int64_t, GemmKind);

}  // namespace detail

template <typename Real>
void gemm(const Gemm<Real>& job) {
  gemm(job, [](int64_t, int64_t, int64_t, int64_t) {});
}

template <typename Real>
void transpose(int64_t rows, int64_t columns, const Real* in, int64_t in_row, Real* out,
               int64_t out_row) {
  constexpr int64_t kLanes = Vec<Real>::kLanes;
  const int64_t whole_rows = rows / kLanes * kLanes, whole_columns = columns / kLanes * kLanes;
  for (int64_t r = 0; r < whole_rows; r += kLanes) {
    for (int64_t c = 0; c < whole_columns; c += kLanes) {
      transpose_square(in + r * in_row + c, in_row, out + c * out_row + r, out_row);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c) {
      out[c * out_row + r] = in[r * in_row + c];
    }
  }
}

template void gemm(const Gemm<float>&);
template void gemm(const Gemm<double>&);
template void transpose(int64_t, int64_t, const float*, int64_t, float*, int64_t);
template void transpose(int64_t, int64_t, const double*, int64_t, double*, int64_t);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

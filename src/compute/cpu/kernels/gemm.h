#pragma once
#include <cstdint>

#include "base/instruction_set.h"

// Small matrix products on data that is already in cache, for float and double.
namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {

// c (m, n) = a (m, k) . b (k, n) + row_bias (m), or c += ... with `accumulate`.
// `a` has any strides and is read one scalar at a time; b and c are contiguous along n. Each
// element of c is one chain of fused multiply-adds in ascending k, started from its bias or old
// value, so it depends on nothing but its own row and column.
template <typename Real>
struct Gemm {
  int64_t m, n, k;
  const Real* a;
  int64_t a_row, a_column;  // strides: a[i * a_row + p * a_column]
  const Real* b;
  int64_t b_row;
  Real* c;
  int64_t c_row;
  const Real* row_bias = nullptr;
  bool accumulate = false;
  // Not null: of a's columns and b's rows only these k, or of a's and c's rows only these m. Then n
  // is a multiple of the lanes of a vector.
  const int32_t* chosen_k = nullptr;
  const int32_t* chosen_m = nullptr;
};

// after(first_row, rows, first_column, columns) is called for each block of c as soon as it is
// written, while it is in the first-level cache.
template <typename Real, typename After>
void gemm(const Gemm<Real>& job, After after);
template <typename Real>
void gemm(const Gemm<Real>& job);

// out (columns, rows) = in (rows, columns) transposed.
template <typename Real>
void transpose(int64_t rows, int64_t columns, const Real* in, int64_t in_row, Real* out,
               int64_t out_row);

namespace detail {

// c block of `rows` x `vectors` registers; the last register holds `last` columns.
template <typename Real>
using GemmBlock = void (*)(const Gemm<Real>& job, int64_t row, int64_t column, int64_t last);

// How many rows a block may have when it is `vectors` registers wide.
int64_t gemm_max_rows(int64_t vectors);
int64_t gemm_max_vectors();
template <typename Real>
int64_t gemm_lanes();
enum class GemmKind : uint8_t { kWhole, kPartial, kChosenK, kChosenM };
template <typename Real>
GemmBlock<Real> gemm_block(int64_t rows, int64_t vectors, GemmKind kind);

}  // namespace detail

template <typename Real, typename After>
void gemm(const Gemm<Real>& job, After after) {
  const int64_t lanes = detail::gemm_lanes<Real>();
  const int64_t all_vectors = (job.n + lanes - 1) / lanes;
  const int64_t panels =
      (all_vectors + detail::gemm_max_vectors() - 1) / detail::gemm_max_vectors();
  using detail::GemmKind;
  const GemmKind whole = job.chosen_k != nullptr   ? GemmKind::kChosenK
                         : job.chosen_m != nullptr ? GemmKind::kChosenM
                                                   : GemmKind::kWhole;
  for (int64_t panel = 0, vector = 0; panel < panels; ++panel) {
    const int64_t vectors = all_vectors * (panel + 1) / panels - vector;  // panels of like width
    const int64_t column = vector * lanes;
    const int64_t columns = job.n - column < vectors * lanes ? job.n - column : vectors * lanes;
    const int64_t last = columns - (vectors - 1) * lanes;
    const int64_t max_rows = detail::gemm_max_rows(vectors);
    const int64_t blocks = (job.m + max_rows - 1) / max_rows;
    for (int64_t block = 0, row = 0; block < blocks; ++block) {
      const int64_t rows = job.m * (block + 1) / blocks - row;  // blocks of like height
      detail::gemm_block<Real>(rows, vectors, last < lanes ? GemmKind::kPartial : whole)(
          job, row, column, last);
      after(row, rows, column, columns);
      row += rows;
    }
    vector += vectors;
  }
}

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

#include <type_traits>
#include <utility>

#include "compute/cpu/kernels/functions.h"
#include "compute/cpu/kernels/vector_math.h"

// All cells of a feature are in registers between the two reflections.
namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {
namespace {

// Without it the cells live in memory: twice the time.
#define AGORA_INLINE __attribute__((always_inline))

constexpr int kMostCells = 5;  // along an axis that registers hold

template <typename Real>
struct Factors {
  explicit Factors(const ReflectFactors<Real>& from) : mean(from.mean), shift(from.shift) {}
  Vec<Real> mean, shift;
};

// body(0), body(1), ...: unrolled where the count is known, so that arrays become registers.
template <int kCount, typename Body>
AGORA_INLINE inline void times(int64_t count, const Body& body) {
  if constexpr (kCount > 0) {
    [&]<int... k>(std::integer_sequence<int, k...>) AGORA_INLINE {
      (body(std::integral_constant<int, k>()), ...);
    }
    (std::make_integer_sequence<int, kCount>());
  } else {
    for (int64_t k = 0; k < count; ++k) body(k);
  }
}

// Reflects entries 0, step, 2 * step, ... of cells.
template <int kSize, typename Real>
AGORA_INLINE inline void reflect_line(int64_t size, const Factors<Real>& factors, Vec<Real>* cells,
                                      int64_t step) {
  using V = Vec<Real>;
  if (size == 1) return;
  V& first = cells[0];
  if (size == 2) {
    V& second = cells[step];
    const V sum = first + second, difference = first - second;
    first = sum * factors.mean;
    second = difference * factors.mean;
    return;
  }
  V sum(Real(0));
  times<kSize>(size, [&](auto k) AGORA_INLINE { sum = k == 0 ? first : sum + cells[k * step]; });
  const V mean = sum * factors.mean, shift = (first - mean) * factors.shift;
  times<kSize>(size, [&](auto k) AGORA_INLINE {
    cells[k * step] = k == 0 ? mean : cells[k * step] + shift;
  });
}

// All cells of a feature, for one vector of lanes, which starts at `at`.
template <bool kTanh, int kRowSize, int kColumnSize, typename Real>
AGORA_INLINE inline void one_vector(const TileReflect<Real>& job, const Factors<Real>& of_rows,
                                    const Factors<Real>& of_columns, int64_t at, Vec<Real>* cells) {
  using V = Vec<Real>;
  const int64_t rows = kRowSize > 0 ? kRowSize : job.rows;
  const int64_t columns = kColumnSize > 0 ? kColumnSize : job.columns;
  const int64_t step = job.step;
  const auto each = [&](auto* memory, const auto& body) AGORA_INLINE {
    memory += at;
    times<kRowSize * kColumnSize>(rows * columns, [&](auto k) AGORA_INLINE {
      body(cells[k], memory);
      memory += step;
    });
  };
  const auto reflect = [&]() AGORA_INLINE {
    times<kRowSize>(rows, [&](auto i) AGORA_INLINE {
      reflect_line<kColumnSize>(columns, of_columns, cells + i * columns, 1);
    });
    times<kColumnSize>(columns, [&](auto j) AGORA_INLINE {
      reflect_line<kRowSize>(rows, of_rows, cells + j, columns);
    });
  };
  each(job.x, [](V& value, const Real* from) AGORA_INLINE { value = V::load(from); });
  reflect();
  if constexpr (kTanh) {
    for (int64_t k = 0; k < rows * columns; ++k) cells[k] = tanh(cells[k]);
  } else if (job.slope_of != nullptr) {
    each(job.slope_of, [](V& value, const Real* from) AGORA_INLINE {
      const V output = V::load(from);
      value = fma(-(value * output), output, value);
    });
  }
  if (job.to != nullptr) each(job.to, [](V& value, Real* to) AGORA_INLINE { value.store(to); });
  if (job.again == nullptr) return;
  reflect();
  each(job.again, [](V& value, Real* to) AGORA_INLINE { value.store(to); });
}

template <bool kTanh, int kRowSize, int kColumnSize, typename Real>
void in_registers(const TileReflect<Real>& job) {
  const Factors<Real> of_rows(job.of_rows), of_columns(job.of_columns);
  for (int64_t p = 0; p < job.positions; ++p) {
    for (int64_t lane = 0; lane < job.lanes; lane += Vec<Real>::kLanes) {
      Vec<Real> cells[kRowSize * kColumnSize];
      one_vector<kTanh, kRowSize, kColumnSize>(job, of_rows, of_columns, job.starts[p] + lane,
                                               cells);
    }
  }
}

template <bool kTanh, typename Real>
void in_memory(const TileReflect<Real>& job) {
  const Factors<Real> of_rows(job.of_rows), of_columns(job.of_columns);
  Vec<Real>* const cells = reinterpret_cast<Vec<Real>*>(job.workspace);
  for (int64_t p = 0; p < job.positions; ++p) {
    for (int64_t lane = 0; lane < job.lanes; lane += Vec<Real>::kLanes) {
      one_vector<kTanh, 0, 0>(job, of_rows, of_columns, job.starts[p] + lane, cells);
    }
  }
}

template <bool kTanh, typename Real, size_t... kIndex>
void by_size(const TileReflect<Real>& job, std::index_sequence<kIndex...>) {
  static constexpr void (*all[])(const TileReflect<Real>&) = {
      in_registers<kTanh, kIndex / kMostCells + 1, kIndex % kMostCells + 1, Real>...};
  all[(job.rows - 1) * kMostCells + job.columns - 1](job);
}

}  // namespace

template <typename Real>
void tile_reflect(const TileReflect<Real>& job) {
  if constexpr (std::is_same_v<Real, float>) {
    if (job.rows <= kMostCells && job.columns <= kMostCells) {
      constexpr auto kSizes = std::make_index_sequence<kMostCells * kMostCells>();
      return job.tanh ? by_size<true>(job, kSizes) : by_size<false>(job, kSizes);
    }
  }
  job.tanh ? in_memory<true>(job) : in_memory<false>(job);
}

template void tile_reflect(const TileReflect<float>&);
template void tile_reflect(const TileReflect<double>&);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

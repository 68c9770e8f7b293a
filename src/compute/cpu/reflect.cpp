#include <cmath>
#include <type_traits>
#include <utility>

#include "compute/cpu/simd.h"
#include "compute/cpu/tile_steps.h"
#include "compute/cpu/vector_math.h"

// The reflection of operations.h along one or two axes, tanh or its slope, and the reflection back,
// in one pass: all cells of a feature are in registers meanwhile.
namespace agora::compute::cpu {
namespace {

// Without it the cells live in memory: twice the time.
#define AGORA_INLINE __attribute__((always_inline))

constexpr int kMostCells = 5;  // along an axis that registers hold

template <typename Real>
struct Factors {
  explicit Factors(int64_t size)
      : mean(static_cast<Real>(1 / std::sqrt(static_cast<double>(size)))),
        shift(size == 1 ? Real(0)
                        : static_cast<Real>(1 / (std::sqrt(static_cast<double>(size)) - 1))) {}
  Vec<Real> mean;   // 1 / sqrt(size)
  Vec<Real> shift;  // 1 / (sqrt(size) - 1)
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

template <typename Real>
class Reflect final : public Runnable<Real> {
 public:
  Reflect(const Plan& plan, const Step& step, int64_t lanes)
      : x_(place_of(plan, step.inputs[0], lanes)),
        tanh_(step.activation == Op::kTanh),
        slope_(step.inputs.size() == 2),
        plain_(step.outputs[0].buffer >= 0),
        again_(step.outputs.size() == 2),
        lanes_(lanes),
        row_size_(step.ints.size() == 2 ? step.outputs[0].shape[size_t(step.ints[0])] : 1),
        column_size_(step.outputs[0].shape[size_t(step.ints.back())]),
        of_rows_(row_size_),
        of_columns_(column_size_) {
    const View& x = step.inputs[0];
    if (slope_) tanh_output_ = place_of(plan, step.inputs[1], lanes);
    if (plain_) to_ = place_of(plan, step.outputs[0], lanes);
    if (again_) again_to_ = place_of(plan, step.outputs[1], lanes);
    Shape others = x.shape;
    for (const int64_t axis : step.ints) others[static_cast<size_t>(axis)] = 1;
    starts_ = offsets_of(others, x.strides, lanes);
    step_ = x.strides[static_cast<size_t>(step.ints.back())] * lanes;
    if constexpr (std::is_same_v<Real, float>) {
      if (row_size_ > kMostCells || column_size_ > kMostCells) return;
      constexpr auto kSizes = std::make_index_sequence<kMostCells * kMostCells>();
      kernel_ = tanh_ ? pick<true>(kSizes) : pick<false>(kSizes);
    }
  }

  void run(const Context<Real>& context) const override {
    const Real* const x = context.at(x_);
    const Real* const y = slope_ ? context.at(tanh_output_) : nullptr;
    Real* const to = plain_ ? context.at(to_) : nullptr;
    Real* const again = again_ ? context.at(again_to_) : nullptr;
    for (const int64_t start : starts_) {
      const auto at = [start](auto* memory)
                          AGORA_INLINE { return memory == nullptr ? nullptr : memory + start; };
      if (kernel_ != nullptr) {
        (this->*kernel_)(at(x), at(y), at(to), at(again));
      } else {
        in_memory(at(x), at(y), at(to), at(again), context.workspace);
      }
    }
  }
  int64_t workspace() const override {
    return kernel_ != nullptr ? 0 : row_size_ * column_size_ * Vec<Real>::kLanes;
  }

 private:
  using V = Vec<Real>;
  using Kernel = void (Reflect::*)(const Real*, const Real*, Real*, Real*) const;

  template <bool kTanh, size_t... kIndex>
  Kernel pick(std::index_sequence<kIndex...>) const {
    static constexpr Kernel all[] = {&Reflect::template in_registers<kTanh, kIndex / kMostCells + 1,
                                                                     kIndex % kMostCells + 1>...};
    return all[(row_size_ - 1) * kMostCells + column_size_ - 1];
  }

  // All cells of a feature, for the vector of lanes that starts at `lane`.
  template <bool kTanh, int kRowSize, int kColumnSize>
  AGORA_INLINE void one_vector(int64_t lane, const Real* x, const Real* y, Real* to, Real* again,
                               V* cells) const {
    const int64_t rows = kRowSize > 0 ? kRowSize : row_size_;
    const int64_t columns = kColumnSize > 0 ? kColumnSize : column_size_;
    const int64_t step = step_;
    const auto each = [&](auto* memory, const auto& body) AGORA_INLINE {
      memory += lane;
      times<kRowSize * kColumnSize>(rows * columns, [&](auto k) AGORA_INLINE {
        body(cells[k], memory);
        memory += step;
      });
    };
    const auto reflect = [&]() AGORA_INLINE {
      times<kRowSize>(rows, [&](auto i) AGORA_INLINE {
        reflect_line<kColumnSize>(columns, of_columns_, cells + i * columns, 1);
      });
      times<kColumnSize>(columns, [&](auto j) AGORA_INLINE {
        reflect_line<kRowSize>(rows, of_rows_, cells + j, columns);
      });
    };
    each(x, [](V& value, const Real* at) AGORA_INLINE { value = V::load(at); });
    reflect();
    if constexpr (kTanh) {
      for (int64_t k = 0; k < rows * columns; ++k) cells[k] = tanh(cells[k]);
    } else if (slope_) {
      each(y, [](V& value, const Real* at) AGORA_INLINE {
        const V output = V::load(at);
        value = fma(-(value * output), output, value);
      });
    }
    if (plain_) each(to, [](V& value, Real* at) AGORA_INLINE { value.store(at); });
    if (!again_) return;
    reflect();
    each(again, [](V& value, Real* at) AGORA_INLINE { value.store(at); });
  }

  template <bool kTanh, int kRowSize, int kColumnSize>
  void in_registers(const Real* x, const Real* y, Real* to, Real* again) const {
    for (int64_t lane = 0; lane < lanes_; lane += V::kLanes) {
      V cells[kRowSize * kColumnSize];
      one_vector<kTanh, kRowSize, kColumnSize>(lane, x, y, to, again, cells);
    }
  }

  void in_memory(const Real* x, const Real* y, Real* to, Real* again, Real* workspace) const {
    V* const cells = reinterpret_cast<V*>(workspace);
    for (int64_t lane = 0; lane < lanes_; lane += V::kLanes) {
      if (tanh_) {
        one_vector<true, 0, 0>(lane, x, y, to, again, cells);
      } else {
        one_vector<false, 0, 0>(lane, x, y, to, again, cells);
      }
    }
  }

  Place x_, tanh_output_, to_, again_to_;
  bool tanh_, slope_, plain_, again_;
  int64_t lanes_, row_size_, column_size_, step_ = 0;  // from cell to cell
  Factors<Real> of_rows_, of_columns_;
  std::vector<int64_t> starts_;
  Kernel kernel_ = nullptr;
};

}  // namespace

template <typename Real>
std::unique_ptr<Runnable<Real>> make_reflect(const Plan& plan, const Step& step, int64_t lanes) {
  return std::make_unique<Reflect<Real>>(plan, step, lanes);
}

template std::unique_ptr<Runnable<float>> make_reflect(const Plan&, const Step&, int64_t);
template std::unique_ptr<Runnable<double>> make_reflect(const Plan&, const Step&, int64_t);

}  // namespace agora::compute::cpu

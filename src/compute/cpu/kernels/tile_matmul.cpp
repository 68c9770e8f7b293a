#include <algorithm>

#include "compute/cpu/kernels/functions.h"
#include "compute/cpu/kernels/gemm.h"
#include "compute/cpu/kernels/vector_math.h"

namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {
namespace {

template <typename Real>
void activate(Activation activation, Real* y, int64_t n) {
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kTanh:
      return vector_tanh(y, y, n);
    case Activation::kSigmoid:
      return vector_sigmoid(y, y, n);
    case Activation::kSoftplus:
      return vector_softplus(y, y, n);
    case Activation::kRelu:
      return map(
          n, y, [](Vec<Real> v) { return max(Vec<Real>(Real(0)), v); }, y);
  }
}

// Lane i of the result is the sum of the lanes of sums[i].
template <typename Real>
Vec<Real> sum_of_each(Vec<Real> (&sums)[Vec<Real>::kLanes]) {
  constexpr int kLanes = Vec<Real>::kLanes;
  typename Vec<Real>::Mask low, high;
  for (int i = 0; i < kLanes; ++i) {
    low[i] = i / 2 + (i % 2) * kLanes;
    high[i] = kLanes / 2 + i / 2 + (i % 2) * kLanes;
  }
#pragma GCC unroll 4
  for (int half = kLanes / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) {
      sums[i] = Vec<Real>(shuffle(sums[i].raw, sums[i + half].raw, low)) +
                Vec<Real>(shuffle(sums[i].raw, sums[i + half].raw, high));
    }
  }
  return sums[0];
}

// Thin weight gradients as dot products over the lanes, kIn x kOut of them at a time.
template <typename Real, int kIn>
void outer_by_dots(const TileOuter<Real>& job) {
  using V = Vec<Real>;
  constexpr int kOut = V::kLanes / kIn;
  const int64_t whole = job.rows / V::kLanes * V::kLanes;
  for (int64_t k = 0; k < job.in; k += kIn) {
    const Real* x[kIn];
    for (int i = 0; i < kIn; ++i) x[i] = job.x + std::min(k + i, job.in - 1) * job.x_stride;
    for (int64_t o = 0; o < job.out; o += kOut) {
      const Real* dy[kOut];
      for (int j = 0; j < kOut; ++j) dy[j] = job.dy + std::min(o + j, job.out - 1) * job.dy_stride;
      V sums[V::kLanes];
      for (V& sum : sums) sum = V(Real(0));
      const auto add = [&](auto load) {
        V left[kIn], right[kOut];
#pragma GCC unroll 16
        for (int i = 0; i < kIn; ++i) left[i] = load(x[i]);
#pragma GCC unroll 16
        for (int j = 0; j < kOut; ++j) right[j] = load(dy[j]);
#pragma GCC unroll 16
        for (int i = 0; i < kIn; ++i) {
#pragma GCC unroll 16
          for (int j = 0; j < kOut; ++j) {
            sums[i * kOut + j] = fma(left[i], right[j], sums[i * kOut + j]);
          }
        }
      };
      for (int64_t r = 0; r < whole; r += V::kLanes) {
        add([r](const Real* from) { return V::load(from + r); });
      }
      if (whole < job.rows) {
        add([&](const Real* from) { return V::load(from + whole, job.rows - whole); });
      }
      Real result[V::kLanes];
      sum_of_each<Real>(sums).store(result);
      for (int i = 0; i < kIn && k + i < job.in; ++i) {
        for (int j = 0; j < kOut && o + j < job.out; ++j) {
          job.dw[(k + i) * job.out + o + j] += result[i * kOut + j];
        }
      }
    }
  }
}

template <typename Real>
bool is_zero(const Real* x, int64_t lanes) {
  if (x[0] != 0) return false;  // which decides it mostly
  typename Vec<Real>::Mask bits{};
  for (int64_t r = 0; r < lanes; r += Vec<Real>::kLanes) {
    bits |= abs(Vec<Real>::load(x + r)).bits();
  }
  return !any(bits);
}

// x - x is 0 or not a number.
template <typename Real>
bool is_finite(const Real* x, int64_t count) {
  using V = Vec<Real>;
  typename V::Mask bits{};
  int64_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) {
    const V now = V::load(x + i);
    bits |= (now - now).bits();
  }
  if (i < count) {
    const V now = V::load(x + i, count - i);
    bits |= (now - now).bits();
  }
  return !any(bits);
}

// Leaving features out is worth it if these are few enough.
bool pays(int64_t chosen, int64_t all) { return 8 * chosen < 7 * all; }

}  // namespace

template <typename Real>
void tile_matmul(const TileMatmul<Real>& job) {
  Gemm<Real> product{job.out, job.lanes,    job.in, job.w,        job.w_out, job.w_in,
                     job.x,   job.x_stride, job.y,  job.y_stride, job.bias,  job.accumulate};
  if (job.chosen != nullptr && job.w_out == 1) {
    // Times a finite weight, such a feature adds nothing.
    int64_t chosen = 0;
    for (int64_t k = 0; k < job.in; ++k) {
      const bool nothing =
          is_zero(job.x + k * job.x_stride, job.lanes) && is_finite(job.w + k * job.w_in, job.out);
      if (!nothing) job.chosen[chosen++] = static_cast<int32_t>(k);
    }
    if (pays(chosen, job.in)) {
      product.k = chosen;
      product.chosen_k = job.chosen;
    }
  }
  if (job.activation == Activation::kNone) return gemm(product);
  gemm(product, [&](int64_t row, int64_t rows, int64_t column, int64_t columns) {
    for (int64_t i = row; i < row + rows; ++i) {
      activate(job.activation, job.y + i * job.y_stride + column, columns);
    }
  });
}

template <typename Real>
void tile_outer(const TileOuter<Real>& job) {
  constexpr int64_t kLanes = Vec<Real>::kLanes;
  // Estimated cost in vector operations: a dot product also needs about three to add its lanes;
  // the product over rows needs the transposed dy and fills whole vectors of outputs.
  const int64_t dots = job.in * job.out * (job.lanes / kLanes + 3);
  const int64_t product =
      job.in * ((job.out + kLanes - 1) / kLanes) * job.lanes + job.out * job.lanes / 2;
  if (dots < product) {
    if (job.in <= 2) return outer_by_dots<Real, 2>(job);
    if (job.out <= 2) return outer_by_dots<Real, kLanes / 2>(job);
    return outer_by_dots < Real, kLanes / 4 < 2 ? 2 : kLanes / 4 > (job);
  }
  transpose(job.out, job.lanes, job.dy, job.dy_stride, job.scratch, job.out);
  Gemm<Real> sum{job.in,      job.out, job.rows, job.x,   job.x_stride, 1,
                 job.scratch, job.out, job.dw,   job.out, nullptr,      true};
  if (job.chosen != nullptr && job.out % kLanes == 0 &&
      is_finite(job.scratch, job.out * job.rows)) {
    int64_t chosen = 0;
    for (int64_t k = 0; k < job.in; ++k) {
      if (!is_zero(job.x + k * job.x_stride, job.lanes)) {
        job.chosen[chosen++] = static_cast<int32_t>(k);
      }
    }
    if (pays(chosen, job.in)) {
      sum.m = chosen;
      sum.chosen_m = job.chosen;
    }
  }
  gemm(sum);
}

template void tile_matmul(const TileMatmul<float>&);
template void tile_matmul(const TileMatmul<double>&);
template void tile_outer(const TileOuter<float>&);
template void tile_outer(const TileOuter<double>&);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

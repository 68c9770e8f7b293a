// What generated kernels are made of (source.h). NVRTC compiles it for a GPU, where a block of
// kThreads threads works on a tile of kLanes rows; any C++ compiler compiles it for one thread,
// which is how tests run kernels where there is no GPU. The generator defines Real, kLanes and
// kBlockThreads before it. Memory of a tile: element (feature f, row r) is at f * kLanes + r.
#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
constexpr int kThreads = kBlockThreads;
#define FUNCTION static __device__ __noinline__
#define KERNEL extern "C" __global__ void __launch_bounds__(kThreads, 1)
#define UNROLL(n) _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
constexpr int kWarp = 32;
DEVICE int thread_index() { return int(threadIdx.x); }
DEVICE int block_index() { return int(blockIdx.x); }
DEVICE int block_count() { return int(gridDim.x); }
DEVICE void block_barrier() { __syncthreads(); }
DEVICE Real from_lane(Real value, int mask) { return __shfl_xor_sync(0xffffffffu, value, mask); }
#else
#include <cmath>
using std::exp, std::log, std::log1p, std::sqrt, std::tanh, std::fabs, std::isfinite, std::fma;
#define DEVICE inline
#define FUNCTION static
constexpr int kThreads = 1;
#define KERNEL extern "C" void
#define UNROLL(n)
#define ROLLED
#define __shared__ static
constexpr int kWarp = 1;
DEVICE int thread_index() { return 0; }
DEVICE int block_index() { return 0; }
DEVICE int block_count() { return 1; }
DEVICE void block_barrier() {}
DEVICE Real from_lane(Real value, int) { return value; }
#endif

using int64 = long long;
constexpr int kWarps = kThreads / kWarp;
DEVICE int warp_index() { return thread_index() / kWarp; }
DEVICE int lane_index() { return thread_index() % kWarp; }

// All blocks have arrived. The counter only grows; `arrivals` is what it shows when they have.
DEVICE void grid_barrier(unsigned* counter, unsigned& arrivals) {
#ifdef __CUDACC__
  arrivals += gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(counter, 1u);
    unsigned seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    } while (int(seen - arrivals) < 0);
    __threadfence();
  }
  __syncthreads();
#endif
}

// Faults: [0] the step of an index out of range, plus one; [1] the first step that is not finite;
// [2] the index.
DEVICE void not_finite(Real value, int step, int* faults) {
  if (isfinite(value)) return;
#ifdef __CUDACC__
  atomicMin(faults + 1, step);
#else
  if (step < faults[1]) faults[1] = step;
#endif
}
DEVICE int checked_index(Real value, int depth, int step, int* faults) {
  if (value >= 0 && value < Real(depth)) return int(value);
  faults[2] = int(value);
  faults[0] = step + 1;
  return 0;
}

DEVICE Real op_neg(Real a) { return -a; }
DEVICE Real op_exp(Real a) { return exp(a); }
DEVICE Real op_log(Real a) { return log(a); }
DEVICE Real op_sqrt(Real a) { return sqrt(a); }
DEVICE Real op_square(Real a) { return a * a; }
DEVICE Real op_abs(Real a) { return fabs(a); }
DEVICE Real op_tanh(Real a) { return tanh(a); }
DEVICE Real op_sigmoid(Real a) { return Real(1) / (Real(1) + exp(-a)); }
DEVICE Real op_relu(Real a) { return a < Real(0) ? Real(0) : a; }
DEVICE Real op_softplus(Real a) { return op_relu(a) + log1p(exp(-fabs(a))); }
DEVICE Real op_add(Real a, Real b) { return a + b; }
DEVICE Real op_sub(Real a, Real b) { return a - b; }
DEVICE Real op_mul(Real a, Real b) { return a * b; }
DEVICE Real op_div(Real a, Real b) { return a / b; }
DEVICE Real op_min(Real a, Real b) { return a < b || a != a ? a : b; }
DEVICE Real op_max(Real a, Real b) { return a > b || a != a ? a : b; }
DEVICE Real op_greater(Real a, Real b) { return a > b ? Real(1) : Real(0); }
DEVICE Real op_greater_equal(Real a, Real b) { return a >= b ? Real(1) : Real(0); }
DEVICE Real op_equal(Real a, Real b) { return a == b ? Real(1) : Real(0); }
DEVICE Real op_where(Real a, Real b, Real c) { return a != Real(0) ? b : c; }
DEVICE Real op_copy(Real a) { return a; }

struct Sum {
  DEVICE static Real start() { return 0; }
  DEVICE static Real join(Real a, Real b) { return a + b; }
};
struct Maximum {
  DEVICE static Real start() { return log(Real(0)); }
  DEVICE static Real join(Real a, Real b) { return op_max(b, a); }
};

// The join of at(0), ..., at(count - 1) by `kParts` neighbours `kStep` lanes apart, of which this
// is number `part`; all of them get it.
template <typename Join, int kParts, int kStep, typename At>
DEVICE Real join_apart(int part, int count, const At& at) {
  Real total[4] = {Join::start(), Join::start(), Join::start(), Join::start()};
  int k = part;
  ROLLED for (; k + 3 * kParts < count; k += 4 * kParts) {
    UNROLL(4)
    for (int u = 0; u < 4; ++u) total[u] = Join::join(total[u], at(k + u * kParts));
  }
  ROLLED for (; k < count; k += kParts) total[0] = Join::join(total[0], at(k));
  Real all = Join::join(Join::join(total[0], total[1]), Join::join(total[2], total[3]));
  UNROLL(4)
  for (int other = 1; other < kParts; other *= 2) {
    all = Join::join(all, from_lane(all, other * kStep));
  }
  return all;
}

// What each thread gives, joined over the block in a fixed order; thread 0 gets it.
template <typename Join>
DEVICE Real join_block(Real value) {
  __shared__ Real of_warp[kWarps];
  UNROLL(5)
  for (int other = 1; other < kWarp; other *= 2) {
    value = Join::join(value, from_lane(value, other));
  }
  block_barrier();
  if (lane_index() == 0) of_warp[warp_index()] = value;
  block_barrier();
  if (thread_index() == 0) {
    for (int k = 1; k < kWarps; ++k) value = Join::join(value, of_warp[k]);
  }
  return value;
}

// The sum over the blocks' own sums of one element, in their order.
DEVICE Real sum_parts(const Real* first, int64 stride, int parts) {
  Real total = 0;
  int k = 0;
  ROLLED for (; k + 8 <= parts; k += 8) {
    Real some[8];
    UNROLL(8)
    for (int u = 0; u < 8; ++u) some[u] = first[(k + u) * stride];
    UNROLL(8)
    for (int u = 0; u < 8; ++u) total += some[u];
  }
  ROLLED for (; k < parts; ++k) total += first[k * stride];
  return total;
}

// Products, thread by thread.
template <int kIn, int kOut, int kColumns, typename X, typename W, typename Store>
DEVICE void plain_product(int warp, const X& x, const W& w, const Store& store) {
  for (int i = warp * kWarp + lane_index(); i < kOut * kColumns; i += kThreads) {
    const int o = i / kColumns, n = i % kColumns;
    Real sum = 0;
    for (int k = 0; k < kIn; ++k) sum = fma(w(k, o), x(k, n), sum);
    store(o, n, sum);
  }
}
template <int kIn, int kOut, int kPositions, typename X, typename Y, typename Store>
DEVICE void plain_outer(int warp, const X& x, const Y& y, const Store& store) {
  for (int i = warp * kWarp + lane_index(); i < kIn * kOut; i += kThreads) {
    const int k = i / kOut, o = i % kOut;
    Real sum = 0;
    for (int n = 0; n < kPositions * kLanes; ++n) sum = fma(x(k, n), y(o, n), sum);
    store(k, o, sum);
  }
}

#if defined(__CUDACC__) && !defined(AGORA_DOUBLE)
// Float products on tensor cores: a number is the sum of two of 11 bits each, and of their four
// products the smallest is left out, so that results are as good as those of float arithmetic.
struct Split {
  unsigned high, low;
};
DEVICE Split split(float value) {
  const unsigned high = __float_as_uint(value) & 0xffffe000u;
  return {high, __float_as_uint(value - __uint_as_float(high))};
}
DEVICE void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <int kCount>
struct Fragment {  // of a matrix, in this lane
  unsigned high[kCount], low[kCount];
  DEVICE void set(int k, float value) {
    const Split it = split(value);
    high[k] = it.high;
    low[k] = it.low;
  }
};
using Left = Fragment<4>;   // 16 x 8
using Right = Fragment<2>;  // 8 x 8
struct Accumulator {        // 16 x 8; three chains of sums, so that none waits for another
  float high[4] = {0, 0, 0, 0}, left[4] = {0, 0, 0, 0}, right[4] = {0, 0, 0, 0};
  DEVICE void add(const Left& a, const Right& b) {
    multiply_add(high, a.high, b.high);
    multiply_add(left, a.low, b.high);
    multiply_add(right, a.high, b.low);
  }
  DEVICE float at(int k) const { return high[k] + (left[k] + right[k]); }
};
template <int kTogether>
struct Tile {
  float at[kTogether][4];
};
template <int kTogether>
struct Columns {
  const float* at[kTogether];
};

// How many tiles of columns share the loads of weights; but every warp should have something to do.
__device__ constexpr int together(int high, int wide) {
  return high * wide >= 4 * kWarps && wide >= 4   ? 4
         : high * wide >= 2 * kWarps && wide >= 2 ? 2
                                                  : 1;
}

// Outputs o and o + 8 of this lane's group for kTogether columns of its own. Not inlined: products
// of one shape share the code.
template <int kIn, int kOut, int kStep, int kWIn, int kWOut, bool kFast, int kTogether>
__device__ __noinline__ Tile<kTogether> product_tile(Columns<kTogether> x, const float* w, int o) {
  const int in_group = lane_index() % 4;
  __builtin_assume(__isGlobal(w));
  Accumulator sum[kTogether];
  const float* const own = w + o * kWOut + in_group * kWIn;
#pragma unroll(kTogether == 1 && kIn <= 128 ? 16 : kTogether <= 2 ? 4 : 2)
  for (int k = 0; k < kIn; k += 8) {
    Left a;
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const bool inside = (kOut % 16 == 0 || o + u % 2 * 8 < kOut) &&
                          (kIn % 8 == 0 || k + u / 2 * 4 + in_group < kIn);
      a.set(u, inside ? own[(k + u / 2 * 4) * kWIn + u % 2 * 8 * kWOut] : 0.0f);
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (kFast) __builtin_assume(__isShared(x.at[c]));
      Right b;
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        const bool inside = kIn % 8 == 0 || k + u * 4 + in_group < kIn;
        b.set(u, inside ? x.at[c][(k + u * 4 + in_group) * (kStep * kLanes)] : 0.0f);
      }
      sum[c].add(a, b);
    }
  }
  Tile<kTogether> tile;
#pragma unroll
  for (int c = 0; c < kTogether; ++c) {
#pragma unroll
    for (int u = 0; u < 4; ++u) tile.at[c][u] = sum[c].at(u);
  }
  return tile;
}

// store(o, n, sum over k of w[k, o] column(n)[k]): outputs in the rows of tensor cores, columns in
// their columns. column(n) points to input 0, inputs are kStep features apart.
template <int kIn, int kOut, int kColumns, int kStep, int kWIn, int kWOut, bool kFast,
          typename Column, typename Store>
DEVICE void matrix_product(int warp, const Column& column, const float* w, const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = kColumns / 8;
  constexpr int kTogether = together(kHigh, kWide), kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  ROLLED for (int item = warp; item < kHigh * kGroups; item += kWarps) {
    const int o = item % kHigh * 16 + group, first = item / kHigh * kTogether;
    Columns<kTogether> x;
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      const int tile = kWide % kTogether != 0 && first + c >= kWide ? kWide - 1 : first + c;
      x.at[c] = column(tile * 8 + group);
    }
    const Tile<kTogether> sum =
        product_tile<kIn, kOut, kStep, kWIn, kWOut, kFast, kTogether>(x, w, o);
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (kWide % kTogether != 0 && first + c >= kWide) continue;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = o + u / 2 * 8, n = (first + c) * 8 + in_group * 2 + u % 2;
        if (kOut % 16 == 0 || row < kOut) store(row, n, sum.at[c][u]);
      }
    }
  }
}

// The same for any x(k, n) and w(k, o).
template <int kIn, int kOut, int kColumns, typename X, typename W, typename Store>
DEVICE void product(int warp, const X& x, const W& w, const Store& store) {
  constexpr int kHigh = (kOut + 15) / 16, kWide = kColumns / 8;
  constexpr int kTogether = together(kHigh, kWide), kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  ROLLED for (int item = warp; item < kHigh * kGroups; item += kWarps) {
    const int o = item % kHigh * 16 + group, first = item / kHigh * kTogether;
    Accumulator sum[kTogether];
#pragma unroll 2
    for (int k = in_group; k < kIn + in_group; k += 8) {
      Left a;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = o + u % 2 * 8, column = k + u / 2 * 4;
        const bool inside = (kOut % 16 == 0 || row < kOut) && (kIn % 8 == 0 || column < kIn);
        a.set(u, inside ? w(column, row) : 0.0f);
      }
#pragma unroll
      for (int c = 0; c < kTogether; ++c) {
        Right b;
#pragma unroll
        for (int u = 0; u < 2; ++u) {
          const bool inside =
              (kIn % 8 == 0 || k + u * 4 < kIn) && (kWide % kTogether == 0 || first + c < kWide);
          b.set(u, inside ? x(k + u * 4, (first + c) * 8 + group) : 0.0f);
        }
        sum[c].add(a, b);
      }
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (kWide % kTogether != 0 && first + c >= kWide) continue;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = o + u / 2 * 8, n = (first + c) * 8 + in_group * 2 + u % 2;
        if (kOut % 16 == 0 || row < kOut) store(row, n, sum[c].at(u));
      }
    }
  }
}

// store(k, o, sum over n of x(k, n) y(o, n)) for the columns n of all positions.
template <int kIn, int kOut, int kPositions, typename X, typename Y, typename Store>
DEVICE void outer(int warp, const X& x, const Y& y, const Store& store) {
  constexpr int kHigh = (kIn + 15) / 16, kWide = (kOut + 7) / 8;
  constexpr int kTogether = together(kHigh, kWide), kGroups = (kWide + kTogether - 1) / kTogether;
  const int group = lane_index() / 4, in_group = lane_index() % 4;
  ROLLED for (int item = warp; item < kHigh * kGroups; item += kWarps) {
    const int i = item % kHigh * 16 + group, first = item / kHigh * kTogether;
    Accumulator sum[kTogether];
#pragma unroll 1
    for (int n = in_group; n < kPositions * kLanes; n += 8) {
      Left a;
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = i + u % 2 * 8;
        a.set(u, kIn % 16 == 0 || row < kIn ? x(row, n + u / 2 * 4) : 0.0f);
      }
#pragma unroll
      for (int c = 0; c < kTogether; ++c) {
        Right b;
#pragma unroll
        for (int u = 0; u < 2; ++u) {
          const int o = (first + c) * 8 + group;
          b.set(u, (kOut % 8 == 0 && kWide % kTogether == 0) || o < kOut ? y(o, n + u * 4) : 0.0f);
        }
        sum[c].add(a, b);
      }
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int row = i + u / 2 * 8, o = (first + c) * 8 + in_group * 2 + u % 2;
        if (row < kIn && o < kOut) store(row, o, sum[c].at(u));
      }
    }
  }
}

// The weight gradient of a product, into sums that lie side by side; positions are kXPosition and
// kYPosition features apart, features of one kXStep and kYStep. Not inlined, as above.
template <int kIn, int kOut, int kPositions, int kXPosition, int kXStep, int kYPosition, int kYStep>
__device__ __noinline__ void weight_gradient(int warp, const float* x, const float* dy, float* sums,
                                             int rows, bool fresh) {
  outer<kIn, kOut, kPositions>(
      warp,
      [&](int k, int n) { return x[(n / kLanes * kXPosition + k * kXStep) * kLanes + n % kLanes]; },
      [&](int o, int n) {
        return n % kLanes < rows ? dy[(n / kLanes * kYPosition + o * kYStep) * kLanes + n % kLanes]
                                 : 0.0f;
      },
      [&](int k, int o, float value) {
        float& to = sums[k * kOut + o];
        to = fresh ? value : to + value;
      });
}
#else
template <int kIn, int kOut, int kColumns, typename X, typename W, typename Store>
DEVICE void product(int warp, const X& x, const W& w, const Store& store) {
  plain_product<kIn, kOut, kColumns>(warp, x, w, store);
}
template <int kIn, int kOut, int kColumns, int kStep, int kWIn, int kWOut, bool kFast,
          typename Column, typename Store>
DEVICE void matrix_product(int warp, const Column& column, const Real* w, const Store& store) {
  plain_product<kIn, kOut, kColumns>(
      warp, [&](int k, int n) { return column(n)[k * kStep * kLanes]; },
      [&](int k, int o) { return w[k * kWIn + o * kWOut]; }, store);
}
template <int kIn, int kOut, int kPositions, typename X, typename Y, typename Store>
DEVICE void outer(int warp, const X& x, const Y& y, const Store& store) {
  plain_outer<kIn, kOut, kPositions>(warp, x, y, store);
}
template <int kIn, int kOut, int kPositions, int kXPosition, int kXStep, int kYPosition, int kYStep>
DEVICE void weight_gradient(int warp, const Real* x, const Real* dy, Real* sums, int rows,
                            bool fresh) {
  plain_outer<kIn, kOut, kPositions>(
      warp,
      [&](int k, int n) { return x[(n / kLanes * kXPosition + k * kXStep) * kLanes + n % kLanes]; },
      [&](int o, int n) {
        return n % kLanes < rows ? dy[(n / kLanes * kYPosition + o * kYStep) * kLanes + n % kLanes]
                                 : Real(0);
      },
      [&](int k, int o, Real value) {
        Real& to = sums[k * kOut + o];
        to = fresh ? value : to + value;
      });
}
#endif

// Reflects cells 0, step, 2 step, ... (operations.h): exchanges the first unit vector and the
// direction of the mean.
template <int kSize, int kStep>
DEVICE void reflect_line(Real* cells) {
  if (kSize == 1) return;
  constexpr double kSizeReal = kSize;
  const Real root = Real(sqrt(kSizeReal)), scale = Real(1) / root,
             shift = Real(1) / (root - Real(1));
  Real sum = 0;
  UNROLL(8)
  for (int k = 0; k < kSize; ++k) sum += cells[k * kStep];
  const Real mean = sum * scale, moved = (cells[0] - mean) * shift;
  cells[0] = mean;
  UNROLL(8)
  for (int k = 1; k < kSize; ++k) cells[k * kStep] += moved;
}
template <int kRows, int kColumns>
DEVICE void reflect_cells(Real* cells) {
  UNROLL(8)
  for (int i = 0; i < kRows; ++i) reflect_line<kColumns, 1>(cells + i * kColumns);
  UNROLL(8)
  for (int j = 0; j < kColumns; ++j) reflect_line<kRows, kColumns>(cells + j);
}

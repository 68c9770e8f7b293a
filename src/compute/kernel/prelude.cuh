// What generated kernels are made of (source.h). NVRTC compiles it for a GPU, where a block of
// kThreads threads works on a tile of kLanes rows; any C++ compiler compiles it for one thread,
// which is how tests run kernels where there is no GPU. The generator defines Real, kLanes,
// kBlockThreads and kShort (products of numbers rounded to 11 bits) before it. Memory of a tile:
// element (feature f, row r) is at f * kLanes + r.
#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
constexpr int kThreads = kBlockThreads;
#define CALLED static __device__ __noinline__
#ifdef AGORA_INLINED
#define FUNCTION static DEVICE
#define PRODUCT DEVICE
#else
#define FUNCTION CALLED
#define PRODUCT __device__ __noinline__
#endif
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
#include <cstring>
using std::exp, std::log, std::log1p, std::sqrt, std::tanh, std::fabs, std::isfinite, std::fma;
#define DEVICE inline
#define FUNCTION static
#define CALLED static
#define PRODUCT inline
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
DEVICE int warp_index() { return int(unsigned(thread_index()) / kWarp); }
DEVICE int lane_index() { return int(unsigned(thread_index()) % kWarp); }

// What the counter of arrivals showed when the kernel was started, by what it shows before this
// block has arrived for the first time: kernels that share it have as many blocks.
using Arrivals = unsigned long long;
DEVICE Arrivals first_arrivals(const Arrivals* counter) {
#ifdef __CUDACC__
  Arrivals seen;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(counter) : "memory");
  return seen / gridDim.x * gridDim.x;
#else
  return *counter;
#endif
}

// All blocks have arrived. The counter only grows; `arrivals` is what it shows when they have.
DEVICE void grid_barrier(Arrivals* counter, Arrivals& arrivals) {
#ifdef __CUDACC__
  arrivals += gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("red.release.gpu.global.add.u64 [%0], 1;" : : "l"(counter) : "memory");
    Arrivals seen;
    do {
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(counter) : "memory");
    } while (seen < arrivals);
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
#if defined(__CUDACC__) && !defined(AGORA_DOUBLE)
CALLED Real exact_tanh(Real a) { return tanh(a); }
// As good as short products need them: to a few units of 1e-7.
DEVICE Real op_tanh(Real a) {
  return kShort ? 1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * a)) : exact_tanh(a);
}
DEVICE Real op_sigmoid(Real a) {
  return kShort ? __fdividef(1.0f, 1.0f + __expf(-a)) : 1.0f / (1.0f + exp(-a));
}
#else
DEVICE Real op_tanh(Real a) { return tanh(a); }
DEVICE Real op_sigmoid(Real a) { return Real(1) / (Real(1) + exp(-a)); }
#endif
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

// Brings the line of memory that a weight is in close to the block, without waiting for it.
DEVICE void touch(const void* at) {
#ifdef __CUDACC__
  int ignored;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(ignored) : "l"(at));
#else
  (void)at;
#endif
}

// The same number, computed here and not where a condition allows its use.
DEVICE Real settled(Real value) {
#if defined(__CUDACC__) && !defined(AGORA_DOUBLE)
  asm volatile("" : "+f"(value));
#endif
  return value;
}

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
CALLED Real sum_parts(const Real* first, int64 stride, int parts) {
  constexpr int kAtOnce = 32;  // on their way
  Real total = 0;
  ROLLED for (int k = 0; k < parts; k += kAtOnce) {
    Real some[kAtOnce];
    UNROLL(kAtOnce)
    for (int u = 0; u < kAtOnce; ++u) some[u] = k + u < parts ? first[(k + u) * stride] : Real(0);
    UNROLL(kAtOnce)
    for (int u = 0; u < kAtOnce; ++u) total += some[u];
  }
  return total;
}

#pragma once
// The text that kernels of images need to be run on the host as a GPU runs them: a thread is a
// fiber, tensor cores and their loads are loops over what the lanes of a warp bring. It takes the
// place of kernel/tensor_cores.cuh, the rest of the text is that of the GPU.
namespace agora::compute {

inline constexpr char kWarpsBefore[] = R"kernel(
#include <ucontext.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>
#define __CUDACC__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static
#define __expf(a) std::exp(a)
#define __fdividef(a, b) ((a) / (b))
using std::exp, std::log, std::log1p, std::sqrt, std::tanh, std::fabs, std::isfinite, std::fma;
struct uint4 { unsigned x, y, z, w; };
struct uint2 { unsigned x, y; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static float2 make_float2(float x, float y) { return {x, y}; }
static float __uint_as_float(unsigned bits) {
  float it;
  memcpy(&it, &bits, 4);
  return it;
}
template <typename T>
T __shfl_xor_sync(unsigned, T, int) { abort(); }
static void atomicMin(int*, int) { abort(); }

static struct { unsigned x; } threadIdx, blockIdx, gridDim;
static unsigned char fast_bytes[1 << 18] __attribute__((aligned(128)));
static ucontext_t scheduler;
static std::vector<ucontext_t> fibers;
static std::vector<bool> is_done;

// Who comes last does the work of all.
struct Meeting {
  unsigned arrived = 0, times = 0;
  template <typename Work>
  void come(unsigned all, const Work& work) {
    const unsigned now = times, self = threadIdx.x;
    if (++arrived == all) {
      work();
      arrived = 0;
      ++times;
    }
    while (times == now) {
      swapcontext(&fibers[self], &scheduler);
      threadIdx.x = self;
    }
  }
};
static Meeting block, warps[32];
static void __syncthreads() { block.come(unsigned(fibers.size()), [] {}); }
)kernel";

inline constexpr char kEmulatedCores[] = R"kernel(
#define IMAGE_KERNEL extern "C" void
#define FAST_BYTES
DEVICE unsigned short bits_of(float value) {
  unsigned all;
  memcpy(&all, &value, 4);
  return value != value ? 0x7fc0 : (unsigned short)((all + 0x7fff + (all >> 16 & 1)) >> 16);
}
DEVICE unsigned packed(float low, float high) {
  return unsigned(bits_of(low)) | unsigned(bits_of(high)) << 16;
}
DEVICE unsigned shared_address(const void* it) {
  return unsigned((const unsigned char*)it - fast_bytes);
}
DEVICE void fetch(unsigned to, const void* from, bool inside) {
  if (inside) memcpy(fast_bytes + to, from, 16);
  if (!inside) memset(fast_bytes + to, 0, 16);
}
DEVICE void fetched() { __syncthreads(); }
DEVICE void store_words(unsigned to, unsigned a, unsigned b, unsigned c, unsigned d) {
  const unsigned words[4] = {a, b, c, d};
  memcpy(fast_bytes + to, words, 16);
}
DEVICE uint4 shared_words(unsigned address) {
  uint4 it;
  memcpy(&it, fast_bytes + address, 16);
  return it;
}
struct Lanes {
  unsigned address[32], found[32][4], a[32][4], b[32][2];
  float sum[32][4];
};
static Lanes lanes[32];
DEVICE void eight_by_eight(unsigned (&to)[4], unsigned address, bool turned) {
  Lanes& all = lanes[threadIdx.x / 32];
  const unsigned self = threadIdx.x % 32;
  if (address % 16 != 0) abort();
  all.address[self] = address;
  warps[threadIdx.x / 32].come(32, [&] {
    for (int k = 0; k < 4; ++k) {
      unsigned short matrix[8][8];
      for (int r = 0; r < 8; ++r) memcpy(matrix[r], fast_bytes + all.address[8 * k + r], 16);
      for (int t = 0; t < 32; ++t) {
        const int r = t / 4, c = t % 4 * 2;
        all.found[t][k] = turned ? matrix[c][r] | unsigned(matrix[c + 1][r]) << 16
                                 : matrix[r][c] | unsigned(matrix[r][c + 1]) << 16;
      }
    }
  });
  for (int k = 0; k < 4; ++k) to[k] = all.found[self][k];
}
DEVICE void matrices(unsigned (&to)[4], unsigned address) { eight_by_eight(to, address, false); }
DEVICE void turned_matrices(unsigned (&to)[4], unsigned address) {
  eight_by_eight(to, address, true);
}
DEVICE float half_of(unsigned word, int high) {
  return __uint_as_float(high ? word & 0xffff0000u : word << 16);
}
DEVICE void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  Lanes& all = lanes[threadIdx.x / 32];
  const unsigned self = threadIdx.x % 32;
  for (int k = 0; k < 4; ++k) all.a[self][k] = a[k], all.sum[self][k] = sum[k];
  all.b[self][0] = b0, all.b[self][1] = b1;
  warps[threadIdx.x / 32].come(32, [&] {
    float left[16][16], right[16][8];
    for (int t = 0; t < 32; ++t) {
      for (int k = 0; k < 8; ++k) {
        left[t / 4 + k / 2 % 2 * 8][t % 4 * 2 + k % 2 + k / 4 * 8] = half_of(all.a[t][k / 2], k % 2);
      }
      for (int k = 0; k < 4; ++k) {
        right[t % 4 * 2 + k % 2 + k / 2 * 8][t / 4] = half_of(all.b[t][k / 2], k % 2);
      }
    }
    for (int t = 0; t < 32; ++t) {
      for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < 16; ++i) {
          all.sum[t][k] += left[t / 4 + k / 2 * 8][i] * right[i][t % 4 * 2 + k % 2];
        }
      }
    }
  });
  for (int k = 0; k < 4; ++k) sum[k] = all.sum[self][k];
}
)kernel";

// run(arguments, blocks) runs the blocks one after the other, their threads in turns that differ.
inline constexpr char kWarpsAfter[] = R"kernel(
static const Arguments* given;
static void run_thread() {
  const unsigned self = threadIdx.x;
  program(*given);
  is_done[self] = true;
  swapcontext(&fibers[self], &scheduler);
}
extern "C" void run(const void* arguments, long blocks) {
  given = static_cast<const Arguments*>(arguments);
  gridDim.x = unsigned(blocks);
  fibers.resize(kThreads);
  std::vector<std::vector<char>> stacks(kThreads, std::vector<char>(1 << 16));
  unsigned turn = 0;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
    memset(fast_bytes, 0xab, sizeof fast_bytes);
    is_done.assign(kThreads, false);
    for (int t = 0; t < kThreads; ++t) {
      getcontext(&fibers[t]);
      fibers[t].uc_stack.ss_sp = stacks[t].data();
      fibers[t].uc_stack.ss_size = stacks[t].size();
      makecontext(&fibers[t], run_thread, 0);
    }
    for (bool any = true; any;) {
      any = false;
      turn = turn * 1664525u + 1013904223u;
      for (int k = 0; k < kThreads; ++k) {
        const int t = int((turn >> 8) + (turn >> 31 ? k : kThreads - k)) & (kThreads - 1);
        if (is_done[t]) continue;
        any = true;
        threadIdx.x = unsigned(t);
        swapcontext(&scheduler, &fibers[t]);
      }
    }
  }
}
)kernel";

}  // namespace agora::compute

#include <algorithm>

#include "compute/cpu/kernels/functions.h"
#include "compute/cpu/kernels/gemm.h"
#include "compute/cpu/kernels/simd.h"

// 3x3 convolutions of a tile: images in the lanes, pixels and channels outside. Each output pixel
// is a small matrix product over its neighbours' channels, in the order of reading.
namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {
namespace {

constexpr int kOutputs = 8;                    // output channels of a block
constexpr int kPixels = AGORA_AVX512 ? 3 : 1;  // neighbouring pixels that share loaded weights

// One run of input channels and its weights: the scalar for (k, output o) is
// w[k * w_in + o * w_out]; channel k of the block's first pixel starts at x + k * lanes.
template <typename Real>
struct Tap {
  const Real* x;
  const Real* w;
  int64_t channels;
};

template <typename Real>
struct Block {
  Tap<Real> taps[9];
  int count;
  int64_t w_in, w_out;
  int64_t x_pixel, y_pixel, lanes;  // steps from a pixel to the next one
  const Real* bias;
  Real* y;  // first output channel of the first pixel
};

template <typename Real, int kOut, int kWide>
void convolve_block(const Block<Real>& block) {
  using V = Vec<Real>;
  for (int64_t lane = 0; lane < block.lanes; lane += V::kLanes) {
    V sum[kOut][kWide];
    for (int o = 0; o < kOut; ++o) {
      const V start(block.bias ? block.bias[o] : Real(0));
      for (int p = 0; p < kWide; ++p) sum[o][p] = start;
    }
    for (int t = 0; t < block.count; ++t) {
      const Real* x = block.taps[t].x + lane;
      const Real* w = block.taps[t].w;
      for (int64_t k = block.taps[t].channels; k > 0; --k, x += block.lanes, w += block.w_in) {
        V right[kWide];
#pragma GCC unroll 4
        for (int p = 0; p < kWide; ++p) right[p] = V::load(x + p * block.x_pixel);
#pragma GCC unroll 16
        for (int o = 0; o < kOut; ++o) {
          const V left(w[o * block.w_out]);
#pragma GCC unroll 4
          for (int p = 0; p < kWide; ++p) sum[o][p] = fma(left, right[p], sum[o][p]);
        }
      }
    }
#pragma GCC unroll 16
    for (int o = 0; o < kOut; ++o) {
#pragma GCC unroll 4
      for (int p = 0; p < kWide; ++p) {
        sum[o][p].store(block.y + p * block.y_pixel + o * block.lanes + lane);
      }
    }
  }
}

template <typename Real, int kWide>
void convolve_outputs(Block<Real> block, int64_t outputs) {
  int64_t o = 0;
  const auto advance = [&](int64_t by) {
    for (int t = 0; t < block.count; ++t) block.taps[t].w += by * block.w_out;
    if (block.bias) block.bias += by;
    block.y += by * block.lanes;
    o += by;
  };
  while (o + kOutputs <= outputs) {
    convolve_block<Real, kOutputs, kWide>(block);
    advance(kOutputs);
  }
  while (o + 3 <= outputs) {
    convolve_block<Real, 3, kWide>(block);
    advance(3);
  }
  while (o < outputs) {
    convolve_block<Real, 1, kWide>(block);
    advance(1);
  }
}

// y(h, w, :) = sum over taps (i, j) of weight(i, j) . x(h + i - 1, w + j - 1, :).
// weight(i, j) = w + i * w_down + j * w_across.
template <typename Real>
struct Convolution {
  const Real* x;
  const Real* w;
  int64_t w_down, w_across, w_in, w_out;
  const Real* bias;
  Real* y;
  int64_t height, width, in, out, lanes;
};

template <typename Real>
void convolve(const Convolution<Real>& job) {
  const int64_t x_pixel = job.in * job.lanes, y_pixel = job.out * job.lanes;
  // Along a row the neighbours' channels are contiguous; if the weights are too, one run of
  // 3 * in channels does.
  const bool joined = job.w_across == job.in * job.w_in;
  for (int64_t h = 0; h < job.height; ++h) {
    for (int64_t w = 0; w < job.width;) {
      const bool inner = w > 0 && w + kPixels < job.width;
      const int64_t first = w == 0 ? 1 : 0, last = !inner && w + 1 == job.width ? 1 : 2;
      Block<Real> block{{},        0,        job.w_in,
                        job.w_out, x_pixel,  y_pixel,
                        job.lanes, job.bias, job.y + (h * job.width + w) * y_pixel};
      for (int64_t i = h == 0 ? 1 : 0; i <= (h + 1 == job.height ? 1 : 2); ++i) {
        for (int64_t j = first; j <= last; j += joined ? 3 : 1) {
          block.taps[block.count++] = {job.x + ((h + i - 1) * job.width + w + j - 1) * x_pixel,
                                       job.w + i * job.w_down + j * job.w_across,
                                       joined ? (last - first + 1) * job.in : job.in};
        }
      }
      if (inner) {
        convolve_outputs<Real, kPixels>(block, job.out);
        w += kPixels;
      } else {
        convolve_outputs<Real, 1>(block, job.out);
        ++w;
      }
    }
  }
}

// dw (in channels of a block, out) += sum over pixels and rows of x dy^T; dy is transposed.
template <typename Real, int kIn, int kVectors>
void weight_block(const Real* x, int64_t x_pixel, int64_t lanes, const Real* dy, int64_t out,
                  int64_t pixels, int64_t rows, Real* dw, int64_t last) {
  using V = Vec<Real>;
  const auto load = [last](const Real* from, int v) {
    return v == kVectors - 1 ? V::load(from + v * V::kLanes, last) : V::load(from + v * V::kLanes);
  };
  V sum[kIn][kVectors];
  for (int i = 0; i < kIn; ++i) {
    for (int v = 0; v < kVectors; ++v) sum[i][v] = load(dw + i * out, v);
  }
  for (int64_t pixel = 0; pixel < pixels; ++pixel, x += x_pixel, dy += lanes * out) {
    for (int64_t r = 0; r < rows; ++r) {
      V right[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) right[v] = load(dy + r * out, v);
#pragma GCC unroll 16
      for (int i = 0; i < kIn; ++i) {
        const V left(x[i * lanes + r]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[i][v] = fma(left, right[v], sum[i][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kIn; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Real* to = dw + i * out + v * V::kLanes;
      if (v == kVectors - 1) {
        sum[i][v].store(to, last);
      } else {
        sum[i][v].store(to);
      }
    }
  }
}

}  // namespace

template <typename Real>
void tile_conv3x3(const TileConv<Real>& job) {
  convolve<Real>({job.x, job.w, 3 * job.in * job.out, job.in * job.out, job.out, 1, job.bias, job.y,
                  job.height, job.width, job.in, job.out, job.lanes});
}

// The gradient of the input is the convolution of dy with the weights turned by 180 degrees and
// with inputs and outputs exchanged.
template <typename Real>
void tile_conv3x3_input(const TileConvInput<Real>& job) {
  const int64_t tap = job.in * job.out;
  convolve<Real>({job.dy, job.w + 8 * tap, -3 * tap, -tap, 1, job.out, nullptr, job.dx, job.height,
                  job.width, job.out, job.in, job.lanes});
}

template <typename Real>
void tile_conv3x3_weight(const TileConvWeight<Real>& job) {
  constexpr int64_t kLanes = Vec<Real>::kLanes;
  constexpr int kVectors = 2;
  const int64_t x_pixel = job.in * job.lanes, dy_pixel = job.out * job.lanes;
  for (int64_t h = 0; h < job.height; ++h) {
    for (int64_t w = 0; w < job.width; ++w) {  // scratch: (width, lanes, out)
      transpose(job.out, job.lanes, job.dy + (h * job.width + w) * dy_pixel, job.lanes,
                job.scratch + w * dy_pixel, job.out);
    }
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t from_h = h + tap / 3 - 1, shift = tap % 3 - 1;
      if (from_h < 0 || from_h >= job.height) continue;
      const int64_t begin = std::max<int64_t>(0, -shift);
      const int64_t pixels = std::min(job.width, job.width - shift) - begin;
      const Real* dy = job.scratch + begin * dy_pixel;
      const Real* x = job.x + (from_h * job.width + begin + shift) * x_pixel;
      Real* dw = job.dw + tap * job.in * job.out;
      for (int64_t o = 0; o < job.out; o += kVectors * kLanes) {
        const int64_t columns = std::min(job.out - o, kVectors * kLanes);
        const bool wide = columns > kLanes;
        const int64_t last = wide ? columns - kLanes : columns;
        int64_t i = 0;
        const auto rows_at_once = [&](auto count) {
          constexpr int kIn = decltype(count)::value;
          for (; i + kIn <= job.in; i += kIn) {
            (wide ? weight_block<Real, kIn, 2>
                  : weight_block<Real, kIn, 1>)(x + i * job.lanes, x_pixel, job.lanes, dy + o,
                                                job.out, pixels, job.rows, dw + i * job.out + o,
                                                last);
          }
        };
        rows_at_once(std::integral_constant < int, AGORA_AVX512 ? 8 : 4 > ());
        rows_at_once(std::integral_constant<int, 3>());
        rows_at_once(std::integral_constant<int, 1>());
      }
    }
  }
}

template void tile_conv3x3(const TileConv<float>&);
template void tile_conv3x3(const TileConv<double>&);
template void tile_conv3x3_input(const TileConvInput<float>&);
template void tile_conv3x3_input(const TileConvInput<double>&);
template void tile_conv3x3_weight(const TileConvWeight<float>&);
template void tile_conv3x3_weight(const TileConvWeight<double>&);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

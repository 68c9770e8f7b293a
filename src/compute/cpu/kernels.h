#pragma once
#include <cstdint>

// The inner loops of the CPU executor, for float and double.
//
// Layout of a tile: the rows of a tile lie in the lanes of vectors. A row-local tensor of F
// features is stored feature by feature: element (feature f, row r) is at data[f * lanes + r],
// where `lanes` (16, 32 or 64, the same for a whole program) is the number of rows of a tile.
// So matrices of any width need no padding, an axis of size 2 vectorises as well as one of size
// 100, and slices, transpositions and broadcasts along features are only strides. Shared tensors
// (parameters) are plain row-major arrays. All tile pointers are aligned to 64 bytes.
namespace agora::compute::cpu {

constexpr int64_t kLaneStep = 16;  // lanes is a multiple of this

enum class Activation : uint8_t { kNone, kTanh, kRelu, kSigmoid, kSoftplus };

// One operand of a tile matmul: feature k of the tile starts at data + k * stride.
// y[o, r] = activation(sum_k w[k * w_in + o * w_out] x[k, r] + bias[o] (+ y[o, r] if accumulate))
// for o < out, r < lanes. w_out == 1: forward; w_in == 1: product with the transposed weight.
// bias may be null. y does not overlap x.
template <typename Real>
struct TileMatmul {
  const Real* x;
  int64_t x_stride;  // >= lanes
  const Real* w;
  int64_t w_in, w_out;
  const Real* bias;
  Real* y;
  int64_t y_stride;  // >= lanes
  int64_t in, out, lanes;
  Activation activation;
  bool accumulate;
};
template <typename Real>
void tile_matmul(const TileMatmul<Real>& job);

// dw[k * out + o] += sum over r < rows of x[k, r] dy[o, r]: the weight gradient of one tile;
// rows <= lanes leaves out the padding of the last tile. scratch holds out * lanes + 64 values.
template <typename Real>
struct TileOuter {
  const Real* x;
  int64_t x_stride;
  const Real* dy;
  int64_t dy_stride;
  Real* dw;
  int64_t in, out, lanes, rows;
  Real* scratch;
};
template <typename Real>
void tile_outer(const TileOuter<Real>& job);

// y[i] = f(x[i]) for i < n; n is a multiple of 16 or small; x == y is allowed.
template <typename Real>
void vector_tanh(const Real* x, Real* y, int64_t n);
template <typename Real>
void vector_exp(const Real* x, Real* y, int64_t n);
template <typename Real>
void vector_log(const Real* x, Real* y, int64_t n);
template <typename Real>
void vector_sigmoid(const Real* x, Real* y, int64_t n);
template <typename Real>
void vector_softplus(const Real* x, Real* y, int64_t n);

// 3x3 convolution with zero padding ('same'), rows in lanes. x: (height, width, in, lanes),
// w: (3, 3, in, out) row-major, bias: (out) or null, y: (height, width, out, lanes).
template <typename Real>
struct TileConv {
  const Real* x;
  const Real* w;
  const Real* bias;
  Real* y;
  int64_t height, width, in, out, lanes;
};
template <typename Real>
void tile_conv3x3(const TileConv<Real>& job);
// x(height, width, in) = gradient with respect to the input, from y = dy(height, width, out).
template <typename Real>
struct TileConvInput {
  const Real* dy;
  const Real* w;
  Real* dx;
  int64_t height, width, in, out, lanes;
};
template <typename Real>
void tile_conv3x3_input(const TileConvInput<Real>& job);
// dw(3, 3, in, out) += the tile's sum over its first `rows` rows and all pixels.
template <typename Real>
struct TileConvWeight {
  const Real* x;
  const Real* dy;
  Real* dw;
  int64_t height, width, in, out, lanes, rows;
  Real* scratch;  // width * out * lanes + 64 values
};
template <typename Real>
void tile_conv3x3_weight(const TileConvWeight<Real>& job);

// Max-pool 3x3, stride 2, padding 1: (height, width, channels) -> ((height+1)/2, (width+1)/2,
// channels). The gradient goes to the first maximum in reading order.
template <typename Real>
struct TilePool {
  const Real* x;
  Real* y;         // forward: out; backward: unused
  const Real* dy;  // backward
  Real* dx;        // backward, overwritten
  int64_t height, width, channels, lanes;
};
template <typename Real>
void tile_pool(const TilePool<Real>& job);
template <typename Real>
void tile_pool_gradient(const TilePool<Real>& job);

}  // namespace agora::compute::cpu

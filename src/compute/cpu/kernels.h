#pragma once
#include <array>
#include <cstdint>

#include "compute/graph.h"

// The inner loops of the CPU executor, for float and double.
//
// Layout of a tile: the rows of a tile lie in the lanes of vectors. A row-local tensor of F
// features is stored feature by feature: element (feature f, row r) is at data[f * lanes + r],
// where `lanes` (16, 32 or 64, the same for a whole program) is the number of rows of a tile.
// So matrices of any width need no padding, an axis of size 2 vectorises as well as one of size
// 100, and slices, transpositions and broadcasts along features are only strides. Shared tensors
// (parameters) are plain row-major arrays. All tile pointers are aligned to 64 bytes.
//
// kernels/ has them, once for every instruction set of the build; kernels() chooses.
namespace agora::compute::cpu {

constexpr int64_t kLaneStep = 16;  // lanes is a multiple of this; no vector has more

enum class Activation : uint8_t { kNone, kTanh, kRelu, kSigmoid, kSoftplus };

// One operand of a tile matmul: feature k of the tile starts at data + k * stride.
// y[o, r] = activation(sum_k w[k * w_in + o * w_out] x[k, r] + bias[o] (+ y[o, r] if accumulate))
// for o < out, r < lanes. w_out == 1: forward; w_in == 1: product with the transposed weight.
// bias may be null. y does not overlap x. `chosen`, null or room for `in` numbers: features that
// are zero in the whole tile are looked for and left out.
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
  int32_t* chosen = nullptr;
};

// dw[k * out + o] += sum over r < rows of x[k, r] dy[o, r]: the weight gradient of one tile;
// rows <= lanes leaves out the padding of the last tile. scratch holds out * lanes + 64 values;
// `chosen` is as in TileMatmul.
template <typename Real>
struct TileOuter {
  const Real* x;
  int64_t x_stride;
  const Real* dy;
  int64_t dy_stride;
  Real* dw;
  int64_t in, out, lanes, rows;
  Real* scratch;
  int32_t* chosen = nullptr;
};

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
// x(height, width, in) = gradient with respect to the input, from y = dy(height, width, out).
template <typename Real>
struct TileConvInput {
  const Real* dy;
  const Real* w;
  Real* dx;
  int64_t height, width, in, out, lanes;
};
// dw(3, 3, in, out) += the tile's sum over its first `rows` rows and all pixels.
template <typename Real>
struct TileConvWeight {
  const Real* x;
  const Real* dy;
  Real* dw;
  int64_t height, width, in, out, lanes, rows;
  Real* scratch;  // width * out * lanes + 64 values
};

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

// Sums or maxima: to[p, lane] = scale * join over k of from[starts[p] + steps[k] + lane], for
// p < positions, lane < width. In the shared steps, where width is 1, `contiguous` stands for steps
// 0, 1, ..., count - 1.
template <typename Real>
struct TileReduce {
  const Real* from;
  Real* to;
  const int64_t *starts, *steps;
  int64_t positions, count, width;
  Real scale;
  bool maximum, contiguous;
};

// Softmax or its logarithm over `size` runs of `width` values, at every position.
template <typename Real>
struct TileSoftmax {
  const Real* from;
  Real* to;
  const int64_t *from_starts, *to_starts;
  int64_t positions, size, from_step, to_step, width;
  bool log;
};

// y[p] += the sum of the `rows` values at x + starts[p].
template <typename Real>
struct TileSumRows {
  const Real* x;
  Real* y;
  const int64_t* starts;
  int64_t positions, rows;
};

// A reflection along an axis of some size: 1 / sqrt(size), and 1 / (sqrt(size) - 1), 0 for size 1.
template <typename Real>
struct ReflectFactors {
  Real mean, shift;
};

// The reflection of operations.h along one or two axes, tanh or its slope, and the reflection back,
// in one pass. Cell k of position p is at starts[p] + k * step, in all of x, slope_of, to and
// again.
template <typename Real>
struct TileReflect {
  const Real* x;
  const Real* slope_of;  // the output of a tanh by whose slope to multiply, or null
  Real *to, *again;      // the reflection, and what is reflected back; or null
  Real* workspace;       // rows * columns * kLaneStep values
  const int64_t* starts;
  int64_t positions, rows, columns, step, lanes;
  ReflectFactors<Real> of_rows, of_columns;
  bool tanh;
};

// One instruction of an elementwise group on a span of `features` runs of `lanes` values; feature f
// of an operand is at data + f * stride.
template <typename Real>
using Elementwise = void (*)(int64_t features, int64_t lanes, Real* to, int64_t to_stride,
                             const Real* a, int64_t a_stride, const Real* b, int64_t b_stride,
                             const Real* c, int64_t c_stride);

// Instructions that do the work of several: a (1 - b^2), the gradient of tanh; a + b + c.
enum class Macro : uint8_t { kNone, kTanhSlope, kAddThree };

template <typename Real>
struct Kernels {
  void (*matmul)(const TileMatmul<Real>& job);
  void (*outer)(const TileOuter<Real>& job);
  void (*conv3x3)(const TileConv<Real>& job);
  void (*conv3x3_input)(const TileConvInput<Real>& job);
  void (*conv3x3_weight)(const TileConvWeight<Real>& job);
  void (*pool)(const TilePool<Real>& job);
  void (*pool_gradient)(const TilePool<Real>& job);
  void (*reduce)(const TileReduce<Real>& job);
  void (*softmax)(const TileSoftmax<Real>& job);
  void (*sum_rows)(const TileSumRows<Real>& job);
  void (*reflect)(const TileReflect<Real>& job);
  // out (columns, rows) = in (rows, columns) transposed.
  void (*transpose)(int64_t rows, int64_t columns, const Real* in, int64_t in_row, Real* out,
                    int64_t out_row);
  // splat[k]: operand k has one value per feature instead of one per lane. Null: no such operation.
  Elementwise<Real> (*elementwise)(Op op, std::array<bool, 3> splat);
  Elementwise<Real> (*macro)(Macro macro);
};

// Those of vector_set() (base/processor.h).
template <typename Real>
const Kernels<Real>& kernels();

}  // namespace agora::compute::cpu

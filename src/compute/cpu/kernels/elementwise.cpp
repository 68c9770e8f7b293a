#include <utility>

#include "compute/cpu/kernels/functions.h"
#include "compute/cpu/kernels/simd.h"
#include "compute/cpu/kernels/vector_math.h"

namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {
namespace {

// NaNs of either operand stay.
template <typename Real>
Vec<Real> larger(Vec<Real> a, Vec<Real> b) {
  return select<Real>(b != b, b, max(b, a));
}
template <typename Real>
Vec<Real> smaller(Vec<Real> a, Vec<Real> b) {
  return select<Real>(b != b, b, min(b, a));
}

template <Op kOp, typename Real>
Vec<Real> apply(Vec<Real> a, Vec<Real> b, Vec<Real> c) {
  using V = Vec<Real>;
  const V one(Real(1)), zero(Real(0));
  if constexpr (kOp == Op::kReshape) return a;
  if constexpr (kOp == Op::kNeg) return -a;
  if constexpr (kOp == Op::kExp) return exp(a);
  if constexpr (kOp == Op::kLog) return log(a);
  if constexpr (kOp == Op::kSqrt) return sqrt(a);
  if constexpr (kOp == Op::kSquare) return a * a;
  if constexpr (kOp == Op::kAbs) return abs(a);
  if constexpr (kOp == Op::kTanh) return tanh(a);
  if constexpr (kOp == Op::kSigmoid) return sigmoid(a);
  if constexpr (kOp == Op::kSoftplus) return softplus(a);
  if constexpr (kOp == Op::kRelu) return max(zero, a);
  if constexpr (kOp == Op::kAdd) return a + b;
  if constexpr (kOp == Op::kSub) return a - b;
  if constexpr (kOp == Op::kMul) return a * b;
  if constexpr (kOp == Op::kDiv) return a / b;
  if constexpr (kOp == Op::kMin) return smaller(a, b);
  if constexpr (kOp == Op::kMax) return larger(a, b);
  if constexpr (kOp == Op::kGreater) return select<Real>(a > b, one, zero);
  if constexpr (kOp == Op::kGreaterEqual) return select<Real>(a >= b, one, zero);
  if constexpr (kOp == Op::kEqual) return select<Real>(a == b, one, zero);
  if constexpr (kOp == Op::kWhere) return select<Real>(a != zero, b, c);
}

template <Op kOp, typename Real, int kInputs, bool kA, bool kB, bool kC>
void kernel(int64_t features, int64_t lanes, Real* to, int64_t to_stride, const Real* a,
            int64_t a_stride, const Real* b, int64_t b_stride, const Real* c, int64_t c_stride) {
  using V = Vec<Real>;
  for (int64_t f = 0; f < features;
       ++f, to += to_stride, a += a_stride, b += b_stride, c += c_stride) {
    const V zero(Real(0));
    const V all_a = kA ? V(*a) : zero, all_b = kInputs > 1 && kB ? V(*b) : zero,
            all_c = kInputs > 2 && kC ? V(*c) : zero;
    int64_t i = 0;
    for (; i + V::kLanes <= lanes; i += V::kLanes) {
      const V x = kA ? all_a : V::load(a + i);
      const V y = kInputs < 2 ? zero : kB ? all_b : V::load(b + i);
      const V z = kInputs < 3 ? zero : kC ? all_c : V::load(c + i);
      apply<kOp, Real>(x, y, z).store(to + i);
    }
    if (i < lanes) {
      const int64_t rest = lanes - i;
      const V x = kA ? all_a : V::load(a + i, rest);
      const V y = kInputs < 2 ? zero : kB ? all_b : V::load(b + i, rest);
      const V z = kInputs < 3 ? zero : kC ? all_c : V::load(c + i, rest);
      apply<kOp, Real>(x, y, z).store(to + i, rest);
    }
  }
}

template <Op kOp, typename Real>
Elementwise<Real> unary(std::array<bool, 3> splat) {
  return splat[0] ? kernel<kOp, Real, 1, true, false, false>
                  : kernel<kOp, Real, 1, false, false, false>;
}

template <Op kOp, typename Real>
Elementwise<Real> binary(std::array<bool, 3> splat) {
  if (splat[0]) {
    return splat[1] ? kernel<kOp, Real, 2, true, true, false>
                    : kernel<kOp, Real, 2, true, false, false>;
  }
  return splat[1] ? kernel<kOp, Real, 2, false, true, false>
                  : kernel<kOp, Real, 2, false, false, false>;
}

template <typename Real, size_t... kModes>
Elementwise<Real> where(size_t mode, std::index_sequence<kModes...>) {
  static constexpr Elementwise<Real> all[] = {
      kernel<Op::kWhere, Real, 3, (kModes & 1) != 0, (kModes & 2) != 0, (kModes & 4) != 0>...};
  return all[mode];
}

template <Macro kMacro, typename Real>
void macro(int64_t features, int64_t lanes, Real* to, int64_t to_stride, const Real* a,
           int64_t a_stride, const Real* b, int64_t b_stride, const Real* c, int64_t c_stride) {
  using V = Vec<Real>;
  const V one(Real(1));
  for (int64_t f = 0; f < features;
       ++f, to += to_stride, a += a_stride, b += b_stride, c += c_stride) {
    const auto value = [&](const auto& load) {
      const V x = load(a), y = load(b);
      if constexpr (kMacro == Macro::kAddThree) return x + y + load(c);
      if constexpr (kMacro == Macro::kTanhSlope) return x * (one - y * y);
    };
    int64_t i = 0;
    for (; i + V::kLanes <= lanes; i += V::kLanes) {
      value([i](const Real* from) { return V::load(from + i); }).store(to + i);
    }
    if (i < lanes) {
      const int64_t rest = lanes - i;
      value([i, rest](const Real* from) { return V::load(from + i, rest); }).store(to + i, rest);
    }
  }
}

}  // namespace

template <typename Real>
Elementwise<Real> macro_kernel(Macro kind) {
  return kind == Macro::kAddThree ? macro<Macro::kAddThree, Real> : macro<Macro::kTanhSlope, Real>;
}
template Elementwise<float> macro_kernel<float>(Macro);
template Elementwise<double> macro_kernel<double>(Macro);

template <typename Real>
Elementwise<Real> elementwise_kernel(Op op, std::array<bool, 3> splat) {
  switch (op) {
    case Op::kReshape:
      return unary<Op::kReshape, Real>(splat);
    case Op::kNeg:
      return unary<Op::kNeg, Real>(splat);
    case Op::kExp:
      return unary<Op::kExp, Real>(splat);
    case Op::kLog:
      return unary<Op::kLog, Real>(splat);
    case Op::kSqrt:
      return unary<Op::kSqrt, Real>(splat);
    case Op::kSquare:
      return unary<Op::kSquare, Real>(splat);
    case Op::kAbs:
      return unary<Op::kAbs, Real>(splat);
    case Op::kTanh:
      return unary<Op::kTanh, Real>(splat);
    case Op::kSigmoid:
      return unary<Op::kSigmoid, Real>(splat);
    case Op::kSoftplus:
      return unary<Op::kSoftplus, Real>(splat);
    case Op::kRelu:
      return unary<Op::kRelu, Real>(splat);
    case Op::kAdd:
      return binary<Op::kAdd, Real>(splat);
    case Op::kSub:
      return binary<Op::kSub, Real>(splat);
    case Op::kMul:
      return binary<Op::kMul, Real>(splat);
    case Op::kDiv:
      return binary<Op::kDiv, Real>(splat);
    case Op::kMin:
      return binary<Op::kMin, Real>(splat);
    case Op::kMax:
      return binary<Op::kMax, Real>(splat);
    case Op::kGreater:
      return binary<Op::kGreater, Real>(splat);
    case Op::kGreaterEqual:
      return binary<Op::kGreaterEqual, Real>(splat);
    case Op::kEqual:
      return binary<Op::kEqual, Real>(splat);
    case Op::kWhere: {
      const size_t mode = (splat[0] ? 1u : 0u) + (splat[1] ? 2u : 0u) + (splat[2] ? 4u : 0u);
      return where<Real>(mode, std::make_index_sequence<8>());
    }
    default:
      return nullptr;
  }
}

template Elementwise<float> elementwise_kernel<float>(Op, std::array<bool, 3>);
template Elementwise<double> elementwise_kernel<double>(Op, std::array<bool, 3>);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

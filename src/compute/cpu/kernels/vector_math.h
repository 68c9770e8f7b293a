#pragma once
#include <cmath>
#include <limits>

#include "compute/cpu/kernels/simd.h"

// exp, log, tanh, sigmoid and softplus of whole vectors, within 2 ulp of the true value for every
// float (subnormals, infinities and NaN included). A lane's result depends on that lane only.
// The coefficients are minimax fits of our own. In double each lane goes through the C library.
namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {

namespace detail {

inline Vec<float> polynomial(Vec<float>, float last) { return {last}; }
template <typename... Rest>
inline Vec<float> polynomial(Vec<float> x, float first, Rest... rest) {
  return fma(polynomial(x, rest...), x, Vec<float>(first));
}

// p * 2^n for |n| <= 252, rounded once.
inline Vec<float> scale_by_power(Vec<float> p, Vec<float> n) {
#if AGORA_AVX512
  return {_mm512_maskz_scalef_ps(0xffff, p.raw, n.raw)};
#else
  using Mask = Vec<float>::Mask;
  const Mask power = reinterpret_cast<Mask>(_mm256_cvtps_epi32(n.raw));
  const Mask half = power >> 1;
  const auto two_to = [](Mask k) { return Vec<float>::from_bits((k + 127) << 23); };
  return p * two_to(half) * two_to(power - half);
#endif
}

inline Vec<float> round_to_integer(Vec<float> x) {
#if AGORA_AVX512
  return {_mm512_maskz_roundscale_ps(0xffff, x.raw, _MM_FROUND_TO_NEAREST_INT)};
#else
  return {_mm256_round_ps(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
#endif
}

inline Vec<float> to_float(Vec<float>::Mask integers) {
#if AGORA_AVX512
  return {_mm512_maskz_cvtepi32_ps(0xffff, reinterpret_cast<__m512i>(integers))};
#else
  return {_mm256_cvtepi32_ps(reinterpret_cast<__m256i>(integers))};
#endif
}

// log(1 + f) + exponent * log 2 for 1 + f in [sqrt(1/2), sqrt(2)].
inline Vec<float> log_reduced(Vec<float> f, Vec<float> exponent) {
  constexpr float kLn2High = 0.693359375f;  // few bits: exponent * high is exact
  constexpr float kLn2Low = -2.12194440054690583e-4f;
  const Vec<float> square = f * f;
  const Vec<float> tail =
      polynomial(f, 0.333333317122f, -0.250008210858f, 0.200012264047f, -0.166233553144f,
                 0.142017680192f, -0.131602116879f, 0.127615177204f, -0.0763434542846f);
  Vec<float> low = fma(square * f, tail, exponent * Vec<float>(kLn2Low));
  low = fma(square, Vec<float>(-0.5f), low);
  return fma(exponent, Vec<float>(kLn2High), f + low);
}

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.
inline Vec<float> exp_tail(Vec<float> r) {
  return polynomial(r, 0.499999934317f, 0.166665203944f, 0.0416683908787f, 0.00836874553738f,
                    0.00138145356287f);
}

// (exp(2 r) - 1 - 2 r) / (2 r^2) for |r| <= log(2) / 4: the same polynomial in 2 r.
inline Vec<float> half_exp_tail(Vec<float> r) {
  return polynomial(r, 2 * 0.499999934317f, 4 * 0.166665203944f, 8 * 0.0416683908787f,
                    16 * 0.00836874553738f, 32 * 0.00138145356287f);
}

template <typename Function>
inline Vec<double> by_lane(Vec<double> x, Function function) {
  for (int i = 0; i < Vec<double>::kLanes; ++i) x.raw[i] = function(x.raw[i]);
  return x;
}

}  // namespace detail

inline Vec<float> exp(Vec<float> x) {
  constexpr float kLog2E = 1.44269504088896341f;
  constexpr float kLn2 = 0.693147180559945309f;
  constexpr float kLn2Rest = -1.904654323148236e-9f;  // log 2 minus its nearest float
  // Beyond these bounds the result is 0 or infinity; NaN, as the second operand, passes through.
  const Vec<float> bounded = min(Vec<float>(90.0f), max(Vec<float>(-105.0f), x));
  const Vec<float> n = detail::round_to_integer(bounded * Vec<float>(kLog2E));
  Vec<float> r = fma(n, Vec<float>(-kLn2), bounded);
  r = fma(n, Vec<float>(-kLn2Rest), r);
  return detail::scale_by_power(Vec<float>(1.0f) + fma(r * r, detail::exp_tail(r), r), n);
}

inline Vec<float> log(Vec<float> x) {
  using Mask = Vec<float>::Mask;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kSmallest = std::numeric_limits<float>::min();
  constexpr int32_t kSqrtHalf = 0x3f3504f3;
  const Mask subnormal = x < Vec<float>(kSmallest);
  const Vec<float> scaled = select(subnormal, x * Vec<float>(0x1p25f), x);
  const Mask offset = (scaled.bits() & 0x7fffffff) - kSqrtHalf;  // negative ones end as NaN
  const Mask exponent = (offset >> 23) - (subnormal & 25);
  const Vec<float> mantissa = Vec<float>::from_bits((offset & 0x007fffff) + kSqrtHalf);
  const Vec<float> result =
      detail::log_reduced(mantissa - Vec<float>(1.0f), detail::to_float(exponent));
  const Vec<float> not_positive = select(x == Vec<float>(0.0f), Vec<float>(-kInfinity),
                                         Vec<float>(std::numeric_limits<float>::quiet_NaN()));
  const Vec<float> positive = select(x < Vec<float>(kInfinity), result, x);  // inf and NaN stay
  return select(x <= Vec<float>(0.0f), not_positive, positive);
}

// d / (1 + d) with d = expm1(2|x|) / 2, and the sign of x. For small d the form d - d (d / (1 + d))
// keeps the errors of the quotient out of the leading digits.
inline Vec<float> tanh(Vec<float> x) {
  constexpr float kSaturated = 9.02f;  // beyond it the nearest float is +-1
  constexpr float kTwoLog2E = 2.88539008177792681f;
  constexpr float kHalfLn2 = 0.346573590279972655f;
  const Vec<float> one(1.0f), half(0.5f);
  const Vec<float> magnitude = min(Vec<float>(kSaturated), abs(x));
  const Vec<float> n = detail::round_to_integer(magnitude * Vec<float>(kTwoLog2E));
  const Vec<float> r = fma(n, Vec<float>(-kHalfLn2), magnitude);
  const Vec<float> p = fma(r * r, detail::half_exp_tail(r), r);  // expm1(2 r) / 2
  const Vec<float> power = detail::scale_by_power(one, n);
  const Vec<float> d = fma(power, p, fma(power, half, -half));
  const Vec<float> quotient = d / (one + d);
  return copy_sign(select(d < half, fma(-d, quotient, d), quotient), x);
}

inline Vec<float> sigmoid(Vec<float> x) {
  const Vec<float> zero(0.0f), one(1.0f);
  const Vec<float> e = exp(-abs(x));  // never overflows
  const Vec<float> sum = one + e;
  const Vec<float> lost = e - (sum - one);  // what rounding took from the sum
  const Vec<float> quotient = select(x < zero, e, one) / sum;
  const Vec<float> inverse = select(x < zero, one - quotient, quotient);  // 1 / sum
  return fma(-quotient * lost, inverse, quotient);
}

inline Vec<float> softplus(Vec<float> x) {
  const Vec<float> zero(0.0f), one(1.0f);
  const Vec<float> e = exp(-abs(x));  // softplus(x) = max(x, 0) + log(1 + e), e in (0, 1]
  const Vec<float>::Mask upper = e > Vec<float>(0.41421354f);
  const Vec<float> f = select(upper, (e - one) * Vec<float>(0.5f), e);
  return max(zero, x) + detail::log_reduced(f, select(upper, one, zero));
}

inline Vec<double> exp(Vec<double> x) {
  return detail::by_lane(x, [](double v) { return std::exp(v); });
}
inline Vec<double> log(Vec<double> x) {
  return detail::by_lane(x, [](double v) { return std::log(v); });
}
inline Vec<double> tanh(Vec<double> x) {
  return detail::by_lane(x, [](double v) { return std::tanh(v); });
}
inline Vec<double> sigmoid(Vec<double> x) {
  return detail::by_lane(x, [](double v) {
    const double e = std::exp(-std::fabs(v));
    return (v < 0 ? e : 1.0) / (1.0 + e);
  });
}
inline Vec<double> softplus(Vec<double> x) {
  return detail::by_lane(
      x, [](double v) { return std::fmax(v, 0.0) + std::log1p(std::exp(-std::fabs(v))); });
}

// y[i] = f(x[i]) for i < n; x == y is allowed.
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

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

#pragma once
#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

// Loops over doubles, four at a time: a body that is a template of its numbers is called with Four
// and, for what is left, with double, and gives each number the same bits.
namespace agora::auctions {

using Four __attribute__((vector_size(32))) = double;
constexpr int kFour = 4;

template <typename Body>
void in_fours(int64_t count, const Body& body) {
  int64_t k = 0;
  for (; k + kFour <= count; k += kFour) body.template operator()<Four>(k);
  for (; k < count; ++k) body.template operator()<double>(k);
}

template <typename Real>
constexpr bool kIsFour = sizeof(Real) == sizeof(Four);

template <typename Real>
Real load(const double* from) {
  Real values;
  std::memcpy(&values, from, sizeof values);
  return values;
}
template <typename Real>
Real load(const float* from) {
  if constexpr (kIsFour<Real>) {
    return _mm256_cvtps_pd(_mm_loadu_ps(from));
  } else {
    return *from;
  }
}

template <typename Real>
void store(double* to, Real values) {
  std::memcpy(to, &values, sizeof values);
}
template <typename Real>
void store(float* to, Real values) {
  if constexpr (kIsFour<Real>) {
    _mm_storeu_ps(to, _mm256_cvtpd_ps(values));
  } else {
    *to = static_cast<float>(values);
  }
}
// 1 where a comparison holds.
template <typename Truth>
void store(uint8_t* to, Truth holds) {
  if constexpr (kIsFour<Truth>) {
    for (int lane = 0; lane < kFour; ++lane) to[lane] = holds[lane] != 0 ? 1 : 0;
  } else {
    *to = holds ? 1 : 0;
  }
}

// As std::max and std::min: the first where they are equal or one is no number.
template <typename Real>
Real larger(Real a, Real b) {
  if constexpr (kIsFour<Real>) {
    return _mm256_max_pd(b, a);
  } else {
    return a < b ? b : a;
  }
}
template <typename Real>
Real smaller(Real a, Real b) {
  if constexpr (kIsFour<Real>) {
    return _mm256_min_pd(b, a);
  } else {
    return b < a ? b : a;
  }
}

// body(k) for every k, rising, at which a value is this one.
template <typename Body>
void where_equal(const double* values, int64_t count, double wanted, const Body& body) {
  in_fours(count, [&]<typename Real>(int64_t k) {
    if constexpr (kIsFour<Real>) {
      const auto equal = load<Four>(values + k) == wanted;
      auto lanes = static_cast<uint32_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(equal)));
      for (; lanes != 0; lanes &= lanes - 1) body(k + std::countr_zero(lanes));
    } else if (values[k] == wanted) {
      body(k);
    }
  });
}

}  // namespace agora::auctions

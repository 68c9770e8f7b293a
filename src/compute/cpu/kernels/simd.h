#pragma once
#include <immintrin.h>

#include <cstdint>
#include <limits>

#include "base/instruction_set.h"

namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {

inline constexpr int kVectorBytes = AGORA_AVX512 ? 64 : 32;

// Vector types of an element; spelled out because a dependent vector_size confuses overloads.
template <typename T>
struct Raw;
template <>
struct Raw<float> {
  using Integer = int32_t;
  typedef float Type __attribute__((vector_size(kVectorBytes)));
  typedef float Unaligned __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
  typedef int32_t Mask __attribute__((vector_size(kVectorBytes)));
};
template <>
struct Raw<double> {
  using Integer = int64_t;
  typedef double Type __attribute__((vector_size(kVectorBytes)));
  typedef double Unaligned __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
  typedef int64_t Mask __attribute__((vector_size(kVectorBytes)));
};

// A register of lanes with the arithmetic of its element. Comparisons give a Mask.
template <typename T>
struct Vec {
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  using Integer = typename Raw<T>::Integer;
  using Type = typename Raw<T>::Type;
  using Unaligned = typename Raw<T>::Unaligned;
  using Mask = typename Raw<T>::Mask;

  Type raw;

  Vec() = default;
  Vec(Type value) : raw(value) {}
  Vec(T value) : raw(value - Type{}) {}

  static Vec load(const T* from) { return Type(*reinterpret_cast<const Unaligned*>(from)); }
  void store(T* to) const { *reinterpret_cast<Unaligned*>(to) = raw; }
  // The first `count` lanes, 0 <= count <= kLanes; lanes beyond read as zero.
  static Vec load(const T* from, int64_t count);
  void store(T* to, int64_t count) const;

  static Vec from_bits(Mask bits) { return reinterpret_cast<Type>(bits); }
  Mask bits() const { return reinterpret_cast<Mask>(raw); }

  friend Vec operator+(Vec a, Vec b) { return a.raw + b.raw; }
  friend Vec operator-(Vec a, Vec b) { return a.raw - b.raw; }
  friend Vec operator*(Vec a, Vec b) { return a.raw * b.raw; }
  friend Vec operator/(Vec a, Vec b) { return a.raw / b.raw; }
  friend Vec operator-(Vec a) { return -a.raw; }
  Vec& operator+=(Vec b) { return *this = *this + b; }
  Vec& operator-=(Vec b) { return *this = *this - b; }
  Vec& operator*=(Vec b) { return *this = *this * b; }
  friend Mask operator<(Vec a, Vec b) { return a.raw < b.raw; }
  friend Mask operator<=(Vec a, Vec b) { return a.raw <= b.raw; }
  friend Mask operator>(Vec a, Vec b) { return a.raw > b.raw; }
  friend Mask operator>=(Vec a, Vec b) { return a.raw >= b.raw; }
  friend Mask operator==(Vec a, Vec b) { return a.raw == b.raw; }
  friend Mask operator!=(Vec a, Vec b) { return a.raw != b.raw; }
};

// Lanes of a followed by b, in that order.
template <typename Type, typename Mask>
inline Type shuffle(Type a, Type b, Mask order) {
#ifdef __clang__
  Type result{};
  constexpr int kLanes = sizeof(Type) / sizeof(a[0]);
  for (int i = 0; i < kLanes; ++i) {
    result[i] = order[i] < kLanes ? a[order[i]] : b[order[i] - kLanes];
  }
  return result;
#else
  return __builtin_shuffle(a, b, order);
#endif
}

template <typename T>
inline Vec<T> select(typename Vec<T>::Mask mask, Vec<T> if_true, Vec<T> if_false) {
  return Vec<T>(mask ? if_true.raw : if_false.raw);
}

template <typename T>
inline Vec<T> abs(Vec<T> x) {
  using Integer = typename Vec<T>::Integer;
  constexpr Integer kMagnitude = std::numeric_limits<Integer>::max();
  return Vec<T>::from_bits(x.bits() & kMagnitude);
}

// |magnitude| with the sign of `sign`.
template <typename T>
inline Vec<T> copy_sign(Vec<T> magnitude, Vec<T> sign) {
  using Integer = typename Vec<T>::Integer;
  constexpr Integer kMagnitude = std::numeric_limits<Integer>::max();
  return Vec<T>::from_bits((magnitude.bits() & kMagnitude) | (sign.bits() & ~kMagnitude));
}

#if AGORA_AVX512
// min and max return the second operand when either is NaN: put the data second to keep NaNs.
// The maskz forms avoid g++ 12's false "uninitialized" warnings and compile to the plain ones.
inline Vec<float> min(Vec<float> a, Vec<float> b) {
  return {_mm512_maskz_min_ps(0xffff, a.raw, b.raw)};
}
inline Vec<float> max(Vec<float> a, Vec<float> b) {
  return {_mm512_maskz_max_ps(0xffff, a.raw, b.raw)};
}
inline Vec<double> min(Vec<double> a, Vec<double> b) {
  return {_mm512_maskz_min_pd(0xff, a.raw, b.raw)};
}
inline Vec<double> max(Vec<double> a, Vec<double> b) {
  return {_mm512_maskz_max_pd(0xff, a.raw, b.raw)};
}
inline Vec<float> sqrt(Vec<float> a) { return {_mm512_maskz_sqrt_ps(0xffff, a.raw)}; }
inline Vec<double> sqrt(Vec<double> a) { return {_mm512_maskz_sqrt_pd(0xff, a.raw)}; }
// a * b + c with one rounding.
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return {_mm512_fmadd_ps(a.raw, b.raw, c.raw)};
}
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return {_mm512_fmadd_pd(a.raw, b.raw, c.raw)};
}
template <>
inline Vec<float> Vec<float>::load(const float* from, int64_t count) {
  return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from)};
}
template <>
inline void Vec<float>::store(float* to, int64_t count) const {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), raw);
}
template <>
inline Vec<double> Vec<double>::load(const double* from, int64_t count) {
  return {_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from)};
}
template <>
inline void Vec<double>::store(double* to, int64_t count) const {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1), raw);
}
#else
inline Vec<float> min(Vec<float> a, Vec<float> b) { return {_mm256_min_ps(a.raw, b.raw)}; }
inline Vec<float> max(Vec<float> a, Vec<float> b) { return {_mm256_max_ps(a.raw, b.raw)}; }
inline Vec<double> min(Vec<double> a, Vec<double> b) { return {_mm256_min_pd(a.raw, b.raw)}; }
inline Vec<double> max(Vec<double> a, Vec<double> b) { return {_mm256_max_pd(a.raw, b.raw)}; }
inline Vec<float> sqrt(Vec<float> a) { return {_mm256_sqrt_ps(a.raw)}; }
inline Vec<double> sqrt(Vec<double> a) { return {_mm256_sqrt_pd(a.raw)}; }
inline Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return {_mm256_fmadd_ps(a.raw, b.raw, c.raw)};
}
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return {_mm256_fmadd_pd(a.raw, b.raw, c.raw)};
}
inline __m256i first_lanes32(int64_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane);
}
inline __m256i first_lanes64(int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
template <>
inline Vec<float> Vec<float>::load(const float* from, int64_t count) {
  return {_mm256_maskload_ps(from, first_lanes32(count))};
}
template <>
inline void Vec<float>::store(float* to, int64_t count) const {
  _mm256_maskstore_ps(to, first_lanes32(count), raw);
}
template <>
inline Vec<double> Vec<double>::load(const double* from, int64_t count) {
  return {_mm256_maskload_pd(from, first_lanes64(count))};
}
template <>
inline void Vec<double>::store(double* to, int64_t count) const {
  _mm256_maskstore_pd(to, first_lanes64(count), raw);
}
#endif

// Whether any bit is set.
template <typename Mask>
inline bool any(Mask bits) {
#if AGORA_AVX512
  const __m512i all = reinterpret_cast<__m512i>(bits);
  return _mm512_test_epi64_mask(all, all) != 0;
#else
  const __m256i all = reinterpret_cast<__m256i>(bits);
  return _mm256_testz_si256(all, all) == 0;
#endif
}

// out[i] = function(in[i]...) for any `count`; a value does not depend on where it stands.
// `out` may be one of the inputs.
template <typename T, typename Function, typename... In>
inline void map(int64_t count, T* out, Function function, const In*... in) {
  constexpr int kLanes = Vec<T>::kLanes;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) function(Vec<T>::load(in + i)...).store(out + i);
  if (i < count) function(Vec<T>::load(in + i, count - i)...).store(out + i, count - i);
}

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

#include "base/decimal.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace agora {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr size_t kMostDigits = 19;  // what fits 64 bits
constexpr size_t kBlock = 16;       // digits read at once

// A power of ten, by how much it is shifted until its highest bit is set, and 2^127 over that.
struct Power {
  uint64_t value, inverse;
  int shift;
};
constexpr std::array<Power, kMostDigits + 1> kPowers = [] {
  std::array<Power, kMostDigits + 1> powers{};
  uint64_t value = 1;
  for (Power& each : powers) {
    each.value = value;
    each.shift = std::countl_zero(value);
    each.inverse = static_cast<uint64_t>(((Wide{1} << 127) - 1) / (value << each.shift));
    value *= 10;
  }
  return powers;
}();

constexpr std::array<uint8_t, 2 * kBlock> kToTheRight = [] {
  std::array<uint8_t, 2 * kBlock> places{};
  for (uint8_t k = 0; k < kBlock; ++k) {
    places[k] = 0x80;  // a zero
    places[kBlock + k] = k;
  }
  return places;
}();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number that at most 4 digits are; false if they are none.
bool read_few(const char* at, size_t count, uint64_t& number) {
  uint32_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const auto digits = static_cast<uint32_t>(uint64_t{bytes ^ 0x3030'3030} << (32 - 8 * count));
  const uint32_t pairs = (10 * digits + (digits >> 8)) & 0x00ff'00ff;
  number = (100 * pairs + (pairs >> 16)) & 0xffff;
  return ((digits | (digits + 0x0606'0606)) & 0xf0f0'f0f0) == 0;
}

// At most 16.
bool read_block(const char* at, size_t count, uint64_t& number) {
  const auto load = [](const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i digits = _mm_shuffle_epi8(_mm_sub_epi8(load(at), _mm_set1_epi8('0')),
                                          load(kToTheRight.data() + count));
  const __m128i fine = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
  const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));   // 10, 1
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001'0064));  // 100, 1
  const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours),      // 10000, 1
                                        _mm_set1_epi32(0x0001'2710));
  const auto both = static_cast<uint64_t>(_mm_cvtsi128_si64(eights));
  number = (both & 0xffff'ffff) * 100'000'000 + (both >> 32);
  return _mm_movemask_epi8(fine) == 0xffff;
}

// digits / 10^places. Of both with their highest bits set the quotient times 2^63 lies in
// [near, near + 3]; what is cut off of it, 11 bits of 64, must be on one side of the half.
bool divide(uint64_t digits, size_t places, double& value) {
  const Power& power = kPowers[places];
  const int shift = std::countl_zero(digits);
  const auto near = static_cast<uint64_t>((Wide{digits << shift} * power.inverse) >> 64);
  const int more = std::countl_zero(near);  // 0 or 1
  const uint64_t bits = near << more;
  const auto exponent = static_cast<uint64_t>(1022 + power.shift - shift - more);
  // The highest bit of the fraction counts one in the exponent, and so does what it carries.
  value = std::bit_cast<double>((exponent << 52) + (bits >> 11) + ((bits >> 10) & 1));
  return 0x400 - (bits & 0x7ff) > 6;
}

// Without a sign.
bool read_digits(const char* text, size_t size, double& value) {
  const char *at = text, *const end = text + size;
  uint64_t digits = 0;
  if (size > kMostDigits + 2) return false;
  while (at != end && is_digit(*at)) digits = 10 * digits + static_cast<uint64_t>(*at++ - '0');
  const auto whole = static_cast<size_t>(at - text);
  if (whole == 0 || whole > kMostDigits) return false;
  if (at == end) {
    value = static_cast<double>(digits);
    return true;
  }
  const auto places = static_cast<size_t>(end - ++at);
  const size_t room = digits == 0 ? kMostDigits : kMostDigits - whole;
  if (at[-1] != '.' || places == 0 || places > room) return false;
  const size_t last = std::min(places, kBlock), first = places - last;
  uint64_t high = 0, low = 0;
  if (!read_few(at, first, high) || !read_block(at + first, last, low)) return false;
  digits = (digits * kPowers[first].value + high) * kPowers[last].value + low;
  if (digits == 0) value = 0;
  return digits == 0 || divide(digits, places, value);
}

}  // namespace

bool read_plain_decimal(const char* text, size_t size, double& value) {
  if (size == 0 || *text != '-') return read_digits(text, size, value);
  const bool read = read_digits(text + 1, size - 1, value);
  value = -value;
  return read;
}

}  // namespace agora

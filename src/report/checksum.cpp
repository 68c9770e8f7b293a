#include "report/checksum.h"

#include <array>

namespace agora::report {
namespace {

using Remainders = std::array<uint32_t, 256>;

constexpr Remainders crc_table(uint32_t reversed_polynomial) {
  Remainders table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t word = byte;
    for (int bit = 0; bit < 8; ++bit) word = word >> 1 ^ (word & 1 ? reversed_polynomial : 0);
    table[byte] = word;
  }
  return table;
}

constexpr Remainders kIso = crc_table(0xEDB88320u);
constexpr Remainders kCastagnoli = crc_table(0x82F63B78u);

uint32_t crc(const Remainders& table, std::string_view bytes, uint32_t before) {
  uint32_t word = ~before;
  for (const char c : bytes) word = word >> 8 ^ table[(word ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~word;
}

}  // namespace

uint32_t crc32(std::string_view bytes, uint32_t before) { return crc(kIso, bytes, before); }

uint32_t crc32c(std::string_view bytes) { return crc(kCastagnoli, bytes, 0); }

uint32_t adler32(std::string_view bytes) {
  uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::string big_endian(uint32_t word) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift & 0xFF);
  return bytes;
}

}  // namespace agora::report

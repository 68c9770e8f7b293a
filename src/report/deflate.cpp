#include "report/deflate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "report/checksum.h"

namespace agora::report {
namespace {

constexpr size_t kShortest = 3, kLongest = 258, kWindow = 32768;

class BitWriter {
 public:
  explicit BitWriter(std::string& out) : out_(out) {}
  // Least significant bit first.
  void bits(uint32_t value, int count) {
    pending_ |= static_cast<uint64_t>(value) << filled_;
    for (filled_ += count; filled_ >= 8; filled_ -= 8, pending_ >>= 8)
      out_ += static_cast<char>(pending_ & 0xFF);
  }
  // Huffman codes start with their most significant bit.
  void code(uint32_t value, int count) {
    uint32_t reversed = 0;
    for (int i = 0; i < count; ++i) reversed |= (value >> i & 1) << (count - 1 - i);
    bits(reversed, count);
  }
  void finish() {
    if (filled_ > 0) bits(0, 8 - filled_);
  }

 private:
  std::string& out_;
  uint64_t pending_ = 0;
  int filled_ = 0;
};

// RFC 1951, 3.2.6: the fixed code of literals and lengths.
void write_symbol(BitWriter& writer, uint32_t symbol) {
  if (symbol < 144)
    writer.code(0x30 + symbol, 8);
  else if (symbol < 256)
    writer.code(0x190 + symbol - 144, 9);
  else if (symbol < 280)
    writer.code(symbol - 256, 7);
  else
    writer.code(0xC0 + symbol - 280, 8);
}

// RFC 1951, 3.2.5. Both tables grow by a factor two every `per_bit` codes.
struct Extra {
  uint32_t code;
  int bits;
  uint32_t value;
};
Extra split(uint32_t offset, uint32_t per_bit) {
  if (offset < 2 * per_bit) return {offset, 0, 0};
  int bits = 0;
  while (offset >> bits >= 2 * per_bit) ++bits;
  return {per_bit * static_cast<uint32_t>(bits) + (offset >> bits), bits,
          offset & ((1u << bits) - 1)};
}

void write_repeat(BitWriter& writer, size_t length, size_t distance) {
  if (length == kLongest) {
    write_symbol(writer, 285);
  } else {
    const Extra extra = split(static_cast<uint32_t>(length - kShortest), 4);
    write_symbol(writer, 257 + extra.code);
    writer.bits(extra.value, extra.bits);
  }
  const Extra extra = split(static_cast<uint32_t>(distance - 1), 2);
  writer.code(extra.code, 5);
  writer.bits(extra.value, extra.bits);
}

uint32_t hash_of(const uint8_t* bytes) {
  return (bytes[0] << 16 | bytes[1] << 8 | bytes[2]) * 2654435761u >> 17;  // 15 bits
}

}  // namespace

std::string zlib_compress(std::string_view input) {
  std::string out("\x78\x5e", 2);
  BitWriter writer(out);
  writer.bits(1, 1);  // the last block
  writer.bits(1, 2);  // with fixed codes
  const auto* bytes = reinterpret_cast<const uint8_t*>(input.data());
  const size_t size = input.size();
  // Chains of earlier places with the same hash; 0 ends a chain, places are counted from 1.
  constexpr int kTries = 16;
  std::vector<size_t> latest(1 << 15, 0), earlier(kWindow, 0);
  const auto remember = [&](size_t at) {
    if (at + kShortest > size) return;
    size_t& head = latest[hash_of(bytes + at)];
    earlier[at % kWindow] = head;
    head = at + 1;
  };
  for (size_t at = 0; at < size;) {
    size_t best = 0, best_distance = 0;
    if (at + kShortest <= size) {
      const size_t most = std::min(kLongest, size - at);
      size_t candidate = latest[hash_of(bytes + at)];
      for (int tries = 0; candidate > 0 && tries < kTries && best < most; ++tries) {
        const size_t from = candidate - 1;
        if (at - from >= kWindow) break;
        size_t length = 0;
        while (length < most && bytes[from + length] == bytes[at + length]) ++length;
        if (length > best) {
          best = length;
          best_distance = at - from;
        }
        candidate = earlier[from % kWindow];
      }
    }
    if (best >= kShortest) {
      write_repeat(writer, best, best_distance);
    } else {
      write_symbol(writer, bytes[at]);
      best = 1;
    }
    for (size_t i = 0; i < best; ++i) remember(at + i);
    at += best;
  }
  write_symbol(writer, 256);
  writer.finish();
  out += big_endian(adler32(input));
  return out;
}

}  // namespace agora::report

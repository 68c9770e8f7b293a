#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace agora {

// Philox4x32-10 (Salmon et al., 2011): a random number is a pure function of its address.
// key: 2 words; counter: 4 words; 4 words out.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                             std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// The draws of one (seed, stream, step, row). Two generators with different addresses are
// independent; the same address gives the same draws on every machine and device.
class Rng {
 public:
  constexpr explicit Rng(uint64_t seed, uint32_t stream = 0, uint32_t step = 0, uint32_t row = 0)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        counter_{0, row, step, stream} {}

  constexpr uint32_t bits() {
    if (used_ == 4) {
      block_ = philox4x32(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[used_++];
  }
  constexpr uint64_t bits64() {
    const uint64_t high = bits();
    return high << 32 | bits();
  }

  // Uniform on [0, 1), 53 bits; uniform32 has 24 bits and costs half.
  constexpr double uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }
  constexpr float uniform32() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // Standard normal by Box-Muller; one draw takes two uniforms, nothing is kept between calls.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  double exponential(double mean = 1.0) { return -mean * std::log(1.0 - uniform()); }

  // Uniform on {0, ..., bound-1} without bias (Lemire's multiplication with rejection).
  constexpr uint32_t below(uint32_t bound) {
    uint64_t product = uint64_t{bits()} * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = (0u - bound) % bound;
      while (static_cast<uint32_t>(product) < threshold) product = uint64_t{bits()} * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // Fisher-Yates.
  template <typename Container>
  constexpr void shuffle(Container& items) {
    for (uint32_t i = static_cast<uint32_t>(items.size()); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[below(i)]);
    }
  }

  // count indices in [0, total), drawn with replacement.
  template <typename Container>
  constexpr void bootstrap(Container& indices, uint32_t total) {
    for (auto& index : indices) index = below(total);
  }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace agora

#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace agora {

// FNV-1a, 64 bits: tells things apart that nobody forges.
class Hash {
 public:
  Hash& add(std::string_view bytes) {
    for (const char byte : bytes) {
      state_ = (state_ ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
    }
    return *this;
  }
  // As a part of its own: ("ab", "c") differs from ("a", "bc").
  Hash& part(std::string_view text) { return add(fmt::format("{}:", text.size())).add(text); }
  std::string hex() const { return fmt::format("{:016x}", state_); }

 private:
  uint64_t state_ = 0xCBF29CE484222325u;
};

}  // namespace agora

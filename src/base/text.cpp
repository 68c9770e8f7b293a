#include "base/text.h"

#include <fmt/format.h>

namespace agora {

std::string printable(std::string_view text, size_t longest) {
  std::string shown;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f;
    shown += plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return text.size() > longest ? shown + "..." : shown;
}

}  // namespace agora

#include "base/text.h"

#include <fmt/format.h>

#include <charconv>

namespace agora {

std::optional<std::vector<double>> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    const auto [after, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (after < end && *after != ',')) return std::nullopt;
    if (after == end) return numbers;
    at = after + 1;
  }
}

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

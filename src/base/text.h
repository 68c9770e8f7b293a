#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agora {

// Without spaces and tabs at both ends.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Numbers with commas between them, "0.5,inf"; nothing if it is anything else.
std::optional<std::vector<double>> numbers_in(std::string_view text);

// For messages: one line, at most `longest` bytes of it, anything but plain text as \xNN.
std::string printable(std::string_view text, size_t longest = 40);

}  // namespace agora

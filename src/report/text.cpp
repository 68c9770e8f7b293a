#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace agora::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the valid UTF-8 character at the front of `text`, or 0.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates and what lies beyond the last plane.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F))
    return 0;
  return length;
}

std::string replace_all(std::string_view text, std::string_view what, std::string_view with) {
  std::string result;
  result.reserve(text.size());
  for (size_t at; (at = text.find(what)) != std::string_view::npos;) {
    result.append(text.substr(0, at)).append(with);
    text.remove_prefix(at + what.size());
  }
  return result.append(text);
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    const char c = text.front();
    if (length == 0) {
      result += kReplacement;
    } else if (length > 1) {
      // U+FFFE and U+FFFF are no XML characters.
      const auto character = text.substr(0, length);
      const bool forbidden = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
      result += forbidden ? kReplacement : character;
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '\'') {
      result += "&#39;";
    } else if (static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\t') {
      result += kReplacement;
    } else {
      result += c;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string escape_json_for_script(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result;
}

std::string escape_javascript_for_script(std::string_view source) {
  constexpr std::string_view kEnd = "</script";
  std::string result = replace_all(source, "<!--", "<\\!--");
  for (size_t at = 0; (at = result.find("</", at)) != std::string::npos; at += 2) {
    const bool ends = std::equal(kEnd.begin(), kEnd.end(), result.begin() + at,
                                 result.begin() + std::min(at + kEnd.size(), result.size()),
                                 [](char a, char b) { return a == (b | (b == '/' ? 0 : 0x20)); });
    if (ends) result.insert(at + 1, 1, '\\');
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j)
      word = word << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      result += i + j <= bytes.size() ? kDigits[word >> (18 - 6 * j) & 63] : '=';
  }
  return result;
}

std::string shorten(std::string_view text, size_t limit) {
  size_t count = 0, cut = 0, at = 0;
  while (at < text.size()) {
    at += std::max<size_t>(character_length(text.substr(at)), 1);
    ++count;
    if (count + 1 == limit) cut = at;
  }
  if (count <= limit) return std::string(text);
  return std::string(text.substr(0, cut)) + "…";
}

double text_width(std::string_view text) {
  double width = 0;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(character_length(text), 1);
    const char c = text.front();
    if (length >= 3) {
      const auto character = text.substr(0, 3);
      // Dashes, superscripts and such are narrow; ideographs fill the square.
      width += static_cast<uint8_t>(character[0]) == 0xE2 ? 0.58 : 1.0;
    } else if (length == 2) {
      width += 0.58;
    } else if (std::string_view("iljtf.,;:'|!()[] ").find(c) != std::string_view::npos) {
      width += 0.32;
    } else if (std::string_view("mwMW@%").find(c) != std::string_view::npos) {
      width += 0.88;
    } else if (c >= 'A' && c <= 'Z') {
      width += 0.68;
    } else {
      width += 0.57;
    }
    text.remove_prefix(length);
  }
  return width;
}

std::string coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  constexpr double kFar = 1e5;  // beyond it renderers lose precision, and nothing is visible
  std::string text = fmt::format("{:.2f}", std::clamp(value, -kFar, kFar));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string readable(double value) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::string text = fmt::format("{:.4g}", value);
  return replace_all(text, "-", "−");
}

}  // namespace agora::report

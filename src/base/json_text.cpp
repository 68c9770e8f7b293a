#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

namespace agora {
namespace {

// The length of the UTF-8 character that `text` begins with, and 0 if it begins with none;
// `looked_at` is how many bytes it takes to see that.
size_t character_length(std::string_view text, size_t& looked_at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  looked_at = 1;
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // The second byte has a narrower range where the first allows shorter forms, surrogates or more
  // than 0x10FFFF.
  unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (; looked_at < length; ++looked_at) {
    if (looked_at >= text.size() || byte(looked_at) < low || byte(looked_at) > high) return 0;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

void append_utf8(std::string& text, uint32_t code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Recursive descent; `expect_shallow_json` bounds its depth.
class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Json whole() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    Json json = value();
    if (peek() != kEnd) throw fault();
    return json;
  }

 private:
  static constexpr int kEnd = -1;

  UserError at_place(const std::string& what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = at_ - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    return user_error("{}:{}:{}: {}", name_, line, column, what);
  }

  UserError fault() const {
    const std::string_view rest = text_.substr(at_);
    return at_place(
        fmt::format("expected JSON, found {}",
                    rest.empty() ? "the end" : fmt::format("'{}'", printable(rest.substr(0, 12)))));
  }

  int here() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : kEnd; }
  int peek() {  // behind the white space
    while (at_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return here();
  }
  void expect(char c) {
    if (here() != c) throw fault();
    ++at_;
  }

  Json value() {
    switch (peek()) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", nullptr);
      default:
        return number();
    }
  }

  Json word(std::string_view letters, Json value) {
    for (const char letter : letters) expect(letter);
    return value;
  }

  Json object() {
    Json::Object members;
    std::unordered_set<std::string> names;
    expect('{');
    if (peek() != '}') {
      do {
        peek();
        const size_t begin = at_;
        std::string key = string();
        if (!names.insert(key).second) {
          at_ = begin;
          throw at_place(fmt::format("a second member '{}'", printable(key)));
        }
        peek();
        expect(':');
        members.emplace_back(std::move(key), value());
      } while (another());
    }
    expect('}');
    return Json(std::move(members));
  }

  Json array() {
    Json::Array elements;
    expect('[');
    if (peek() != ']') {
      do {
        elements.push_back(value());
      } while (another());
    }
    expect(']');
    return Json(std::move(elements));
  }

  bool another() {
    if (peek() != ',') return false;
    ++at_;
    return true;
  }

  std::string string() {
    std::string text;
    expect('"');
    while (here() != '"') {
      const int c = here();
      if (c < 0x20) throw fault();  // the end too
      if (c == '\\') {
        escape(text);
        continue;
      }
      size_t looked_at = 0;
      const size_t length = character_length(text_.substr(at_), looked_at);
      if (length == 0) throw fault();
      text.append(text_.substr(at_, length));
      at_ += length;
    }
    ++at_;
    return text;
  }

  void escape(std::string& text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    expect('\\');
    if (here() == 'u') {
      uint32_t code = hexadecimal();
      if (code >= 0xDC00 && code < 0xE000) throw fault();
      if (code >= 0xD800 && code < 0xDC00) {  // the first half of a pair
        expect('\\');
        if (here() != 'u') throw fault();
        const uint32_t second = hexadecimal();
        if (second < 0xDC00 || second >= 0xE000) throw fault();
        code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
      }
      append_utf8(text, code);
      return;
    }
    const size_t letter = here() == kEnd ? kLetters.npos : kLetters.find(text_[at_]);
    if (letter == kLetters.npos) throw fault();
    text += kMeant[letter];
    ++at_;
  }

  uint32_t hexadecimal() {  // uXXXX
    expect('u');
    uint32_t code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + 4) throw fault();
    at_ += 4;
    return code;
  }

  bool digit() const { return here() >= '0' && here() <= '9'; }
  void digits() {
    if (!digit()) throw fault();
    while (digit()) ++at_;
  }

  Json number() {
    const size_t begin = at_;
    if (here() == '-') ++at_;
    if (here() == '0') {
      ++at_;
    } else {
      digits();
    }
    bool is_whole = true;
    if (here() == '.') {
      is_whole = false;
      ++at_;
      digits();
    }
    if (here() == 'e' || here() == 'E') {
      is_whole = false;
      ++at_;
      if (here() == '+' || here() == '-') ++at_;
      digits();
    }
    const std::string_view text = text_.substr(begin, at_ - begin);
    if (is_whole) {
      int64_t number = 0;
      if (reads(text, number)) return number;
      uint64_t large = 0;
      if (reads(text, large)) return large;
    }
    double real = 0;
    if (!reads(text, real)) {
      // Too small for a double is 0; strtod tells the two apart.
      real = std::strtod(std::string(text).c_str(), nullptr);
      if (!std::isfinite(real)) throw user_error("{}: a number is too large", name_);
    }
    return real;
  }

  template <typename T>
  static bool reads(std::string_view text, T& number) {
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

void write_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    size_t looked_at = 0;
    const size_t length = character_length(text, looked_at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (const size_t at = kEscaped.find(text[0]); at != kEscaped.npos) {
      out += '\\';
      out += kLetters[at];
    } else if (static_cast<unsigned char>(text[0]) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<int>(text[0]));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(looked_at);
  }
  out += '"';
}

// The fewest digits that read back as the same number, with a point or an exponent.
std::string real_text(double value) {
  if (!std::isfinite(value)) return "null";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (value == 0) return sign + "0.0";
  constexpr int kMostBefore = 15, kMostZeros = 3;
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                 std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  const size_t e = text.find('e');
  std::string digits(text.substr(0, e));
  std::erase(digits, '.');
  int exponent = 0;
  const size_t skip = text[e + 1] == '+' ? 2 : 1;
  std::from_chars(text.data() + e + skip, text.data() + text.size(), exponent);
  const int point = exponent + 1;  // so many digits are before it
  const int count = static_cast<int>(digits.size());
  if (point > 0 && point <= kMostBefore) {
    if (count <= point) return sign + digits + std::string(point - count, '0') + ".0";
    return sign + digits.insert(static_cast<size_t>(point), 1, '.');
  }
  if (point <= 0 && point >= -kMostZeros) return sign + "0." + std::string(-point, '0') + digits;
  if (count > 1) digits.insert(1, 1, '.');
  return fmt::format("{}{}e{}{:02}", sign, digits, exponent < 0 ? '-' : '+', std::abs(exponent));
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& json, int depth) {
    if (json.is_object()) {
      list('{', '}', json.items(), depth, [&](const auto& member) {
        write_string(out, member.first);
        out += indent_ < 0 ? ":" : ": ";
        write(member.second, depth + 1);
      });
    } else if (json.is_array()) {
      list('[', ']', json, depth, [&](const Json& element) { write(element, depth + 1); });
    } else if (json.is_string()) {
      write_string(out, json.text());
    } else if (json.is_number_float()) {
      out += real_text(json.get<double>());
    } else if (json.is_number_unsigned()) {
      out += fmt::to_string(json.get<uint64_t>());
    } else if (json.is_number_integer()) {
      out += fmt::to_string(json.get<int64_t>());
    } else if (json.is_boolean()) {
      out += json.get<bool>() ? "true" : "false";
    } else {
      out += "null";
    }
  }

  std::string out;

 private:
  template <typename List, typename WriteOne>
  void list(char open, char close, const List& values, int depth, const WriteOne& write_one) {
    out += open;
    bool first = true;
    for (const auto& value : values) {
      if (!first) out += ',';
      first = false;
      new_line(depth + 1);
      write_one(value);
    }
    if (!first) new_line(depth);
    out += close;
  }

  void new_line(int depth) {
    if (indent_ < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent_) * static_cast<size_t>(depth), ' ');
  }

  int indent_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  expect_shallow_json(text, name);
  return Parser(text, name).whole();
}

std::string dump_json(const Json& json, int indent) {
  Writer writer(indent);
  writer.write(json, 0);
  return std::move(writer.out);
}

}  // namespace agora

#include "base/limits.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"

namespace agora {
namespace {

constexpr size_t kFirstRead = size_t{1} << 18;

}  // namespace

std::string read_text(const std::filesystem::path& path, size_t longest) {
  InputFile file(path);
  const auto too_long = [&] {
    return user_error("{}: longer than {} MiB, which is the most that is read of its kind",
                      path.string(), longest >> 20);
  };
  std::string bytes;
  for (size_t total = 0;;) {
    const size_t room = std::min(total == 0 ? kFirstRead : total, longest + 1 - total);
    bytes.resize(total + room);
    const size_t count = file.read(bytes.data() + total, room);
    bytes.resize(total + count);
    if (const size_t zero = bytes.find('\0', total); zero != std::string::npos) {
      const auto lines = std::count(bytes.data(), bytes.data() + zero, '\n');
      throw user_error("{}:{}: this is not a text file", path.string(), lines + 1);
    }
    total += count;
    // What does not begin like text is told as such, whatever its length.
    if (total > longest || file.size() > longest) throw too_long();
    if (count < room) return bytes;
  }
}

void expect_shallow_json(std::string_view text, const std::string& name) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') {
      if (++depth > kMostDepth) {
        throw user_error("{}: brackets are nested more than {} deep", name, kMostDepth);
      }
    } else if (text[i] == ']' || text[i] == '}') {
      if (depth > 0) --depth;
    } else if (text[i] == '"') {
      while (++i < text.size() && text[i] != '"') i += text[i] == '\\';
    }
  }
}

// The parser bounds brackets itself, but not the tables that a key "a.b.c" makes.
void expect_shallow_toml(std::string_view text, const std::string& name) {
  size_t dots = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      dots = 0;
    } else if (c == '"' || c == '\'') {
      const std::string three(3, c);
      const std::string_view quote =
          text.substr(i).starts_with(three) ? std::string_view(three) : text.substr(i, 1);
      for (i += quote.size(); i < text.size() && !text.substr(i).starts_with(quote); ++i) {
        i += c == '"' && text[i] == '\\';
      }
      i += quote.size() - 1;
    } else if (c == '.') {
      if (++dots > kMostDots) throw user_error("{}: a key has more than {} dots", name, kMostDots);
    } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') {
      dots = 0;
    }
  }
}

}  // namespace agora

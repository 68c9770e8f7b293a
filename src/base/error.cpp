#include "base/error.h"

#include <algorithm>
#include <numeric>

namespace agora {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// Bytes of the first character, 0 if it is not to be shown: a control, a line's end, no UTF-8.
size_t bytes_shown(std::string_view text) {
  const auto at = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const size_t count = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (text.size() < count) return 0;
  for (size_t k = 1; k < count; ++k) {
    if (at(k) < 0x80 || at(k) >= 0xc0) return 0;
  }
  if (lead == 0xc2 && at(1) < 0xa0) return 0;  // U+0080 to U+009F
  const std::string_view character = text.substr(0, count);
  return character == "\u2028" || character == "\u2029" ? 0 : count;
}

std::string one_line(std::string_view message) {
  std::string line;
  line.reserve(message.size());
  while (!message.empty()) {
    const size_t count = bytes_shown(message);
    if (count > 0) {
      line += message.substr(0, count);
    } else {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(message[0]));
    }
    message.remove_prefix(std::max<size_t>(1, count));
  }
  return line;
}

}  // namespace

UserError::UserError(const std::string& message) : Error(one_line(message)) {}

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  throw Error(fmt::format("{}:{}: {} does not hold{}{}", file, line, condition,
                          message.empty() ? "" : ": ", message));
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : fmt::format(" (did you mean '{}'?)", *best);
}

}  // namespace agora

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

std::string one_line(const std::string& message) {
  std::string line;
  line.reserve(message.size());
  unsigned char before = 0;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_c1 = before == 0xc2 && byte >= 0x80 && byte < 0xa0;  // U+0080 to U+009F
    if (is_c1) line.resize(line.size() - 1);
    if (is_c1 || byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
    before = byte;
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

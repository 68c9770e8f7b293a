#include "planning/model/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/limits.h"
#include "base/signals.h"

namespace agora::planning {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr size_t kChunk = 1 << 18;

std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || text.empty()) return {};
  if (error == std::errc::result_out_of_range) {
    // Too small is zero; too large is infinite, for whoever checks the range.
    return text.find("e-") != text.npos || text.find("E-") != text.npos
               ? 0.0
               : std::numeric_limits<double>::infinity();
  }
  if (error != std::errc()) return {};
  return value;
}

}  // namespace

std::optional<double> to_number(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return plain_number(text);
  const auto above = plain_number(text.substr(0, slash));
  const auto below = plain_number(text.substr(slash + 1));
  if (!above || !below) return {};
  return *above / *below;
}

std::optional<int32_t> to_index(std::string_view text) {
  if (text.empty() || text.size() > 10 || (text.size() > 1 && text[0] == '0')) return {};
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + (c - '0');
  }
  if (value >= std::numeric_limits<int32_t>::max()) return {};
  return static_cast<int32_t>(value);
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  size_t begin = text.find_first_not_of(kBlanks);
  while (begin != text.npos) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    all.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return all;
}

bool LineReader::fill() {
  if (ended_) return false;
  throw_if_stopped();
  buffer_.erase(0, begin_);
  offset_ += begin_;
  begin_ = 0;
  const size_t kept = buffer_.size();
  buffer_.resize(kept + kChunk);
  const size_t got = file_.read(buffer_.data() + kept, kChunk);
  buffer_.resize(kept + got);
  const std::string_view fresh = std::string_view(buffer_).substr(kept);
  if (const size_t zero = fresh.find('\0'); zero != fresh.npos) {
    const auto lines = std::count(fresh.data(), fresh.data() + zero, '\n');
    throw user_error("{}:{}: this is not a text file", file_.path().string(), number_ + 1 + lines);
  }
  if (kept > kLongestLine) {
    throw user_error("{}:{}: the line is longer than {} MiB", file_.path().string(), number_ + 1,
                     kLongestLine >> 20);
  }
  ended_ = got == 0;
  if (number_ == 0 && kept == 0 && buffer_.starts_with("\xEF\xBB\xBF")) begin_ = 3;
  return !ended_;
}

void LineReader::restrict_to(size_t begin, size_t end, int64_t lines) {
  file_.restrict_to(begin, end);
  buffer_.clear();
  begin_ = 0;
  offset_ = begin;
  number_ = lines;
  ended_ = false;
}

bool LineReader::next(std::string_view& line) {
  size_t searched = begin_;
  size_t end;
  while ((end = buffer_.find('\n', searched)) == std::string::npos) {
    const size_t waiting = buffer_.size() - begin_;
    if (!fill()) break;
    searched = begin_ + waiting;
  }
  if (end == std::string::npos) {
    if (begin_ == buffer_.size()) return false;
    end = buffer_.size();
  }
  line = std::string_view(buffer_).substr(begin_, end - begin_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  begin_ = std::min(end + 1, buffer_.size());
  ++number_;
  return true;
}

}  // namespace agora::planning

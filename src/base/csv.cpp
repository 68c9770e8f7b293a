#include "base/csv.h"

#include <fmt/compile.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unordered_set>

#include "base/decimal.h"
#include "base/limits.h"
#include "base/signals.h"
#include "base/text.h"

namespace agora {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;
constexpr size_t kAhead = 64;  // bytes looked at together, perhaps past the end
static_assert(kAhead >= kDecimalAhead);

// A small file is read at once, and its end seen, without the pages of a large buffer.
size_t buffer_for(const InputFile& file) {
  return file.size() == 0 ? kBuffer : std::min(kBuffer, file.size() + 1);
}

constexpr bool in_no_text(char byte) {
  return (static_cast<unsigned char>(byte) < 0x20 && byte != '\t' && byte != '\n' &&
          byte != '\r') ||
         byte == 0x7f;
}

// Which of the 64 bytes from `at` end a plain run: a separator, a quote, or what text never
// contains, as the zero behind the buffer. Cells of numbers end anywhere: a jump per byte would
// often be guessed wrong.
uint64_t ends_of_plain(const char* at, char separator) {
  const __m256i controls = _mm256_set1_epi8(0x1f), tab = _mm256_set1_epi8('\t'),
                separators = _mm256_set1_epi8(separator), quote = _mm256_set1_epi8('"'),
                rubout = _mm256_set1_epi8(0x7f);
  const auto half = [&](const char* from) -> uint64_t {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i control = _mm256_andnot_si256(
        _mm256_cmpeq_epi8(bytes, tab), _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, controls), bytes));
    const __m256i other = _mm256_or_si256(
        _mm256_cmpeq_epi8(bytes, rubout),
        _mm256_or_si256(_mm256_cmpeq_epi8(bytes, separators), _mm256_cmpeq_epi8(bytes, quote)));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(control, other)));
  };
  return half(at) | half(at + 32) << 32;
}

char* end_of_plain(char* at, char separator) {
  uint64_t ends = 0;
  while ((ends = ends_of_plain(at, separator)) == 0) at += kAhead;
  return at + std::countr_zero(ends);
}

// from_chars takes no plus sign.
std::string_view digits_of(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  return cell;
}

// The bytes of the header's line that stand outside quotes.
std::string unquoted_header(const char* at, const char* end) {
  std::string header;
  while (at != end && (*at == '\n' || *at == '\r')) ++at;
  for (bool quoted = false; at != end && (quoted || *at != '\n'); ++at) {
    if (*at == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      header += *at;
    }
  }
  return header;
}

constexpr size_t kLongestNumber = 32;

// The shortest digits that read back the same; behind them.
char* write_number(char* to, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool one = bits == std::bit_cast<uint64_t>(1.0);
  if (one | (bits == 0)) {  // who gets what: a jump on either would often be guessed wrong
    *to = static_cast<char>('0' + (one ? 1 : 0));
    return to + 1;
  }
  if (std::abs(value) < 1e6 && value == std::trunc(value) && value != 0) {  // -0 keeps its sign
    return fmt::format_to(to, FMT_COMPILE("{}"), static_cast<int64_t>(value));
  }
  return fmt::format_to(to, FMT_COMPILE("{}"), value);
}

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& path) : file_(path), name_(path.string()) {
  buffer_.resize(buffer_for(file_) + kAhead);
  at_ = end_ = buffer_.data();
  refill();
  if (std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with("\xEF\xBB\xBF")) at_ += 3;
  find_separator();
  read_header();
}

CsvReader::CsvReader(const std::filesystem::path& path, size_t begin, size_t end, int64_t lines)
    : CsvReader(path) {
  const size_t after_header = file_.position() - static_cast<size_t>(end_ - at_);
  if (begin > after_header) next_line_ = lines + 1;
  file_.restrict_to(std::max(begin, after_header), end);
  at_ = end_ = buffer_.data();
  last_ = false;
}

void CsvReader::find_separator() {
  const std::string header = unquoted_header(at_, end_);
  const auto has = [&](char c) { return header.find(c) != std::string::npos; };
  if (!has(',') && has(';')) separator_ = ';';
  if (!has(',') && !has(';') && has('\t')) {
    throw fault(1, "the columns are separated by tabs, expected commas or semicolons");
  }
}

void CsvReader::read_header() {
  if (!next_record()) throw user_error("{}: the file is empty, expected a header row", name_);
  std::unordered_set<std::string> known;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const std::string column(trimmed(text(i)));
    if (column.empty()) throw fault(line_, fmt::format("column {} has no name", i + 1));
    if (!known.insert(column).second) {
      throw fault(line_, fmt::format("two columns are named '{}'", printable(column)));
    }
    columns_.push_back(column);
  }
}

std::optional<size_t> CsvReader::find(std::string_view column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<size_t>(found - columns_.begin());
}

std::vector<size_t> CsvReader::require(const std::vector<std::string>& names) const {
  std::vector<size_t> positions;
  for (const std::string& name : names) {
    if (const auto position = find(name)) {
      positions.push_back(*position);
      continue;
    }
    for (const std::string& column : columns_) {
      const bool wanted = std::find(names.begin(), names.end(), column) != names.end();
      const std::string near = wanted ? "" : suggestion(column, {name});
      if (!near.empty()) {
        throw fault(1, fmt::format("unknown column '{}'{}", printable(column), near));
      }
    }
    throw fault(1, fmt::format("expected a column '{}', found '{}'", name,
                               printable(fmt::format("{}", fmt::join(columns_, ",")))));
  }
  return positions;
}

void CsvReader::allow_only(const std::vector<std::string>& names) const {
  for (const std::string& column : columns_) {
    if (std::find(names.begin(), names.end(), column) == names.end()) {
      throw fault(
          1, fmt::format("unknown column '{}'{}", printable(column), suggestion(column, names)));
    }
  }
}

bool CsvReader::next() {
  if (!next_record()) return false;
  if (cells_.size() != columns_.size()) {
    const bool halves = separator_ == ',' && cells_.size() == 2 * columns_.size();
    throw fault(line_,
                fmt::format("expected {} cells as in the header, found {}{}", columns_.size(),
                            cells_.size(),
                            halves ? "; with decimal commas separate cells by semicolons" : ""));
  }
  return true;
}

bool CsvReader::next_record() {
  while (true) {
    switch (scan_row()) {
      case Scan::kRow:
        return true;
      case Scan::kEnd:
        return false;
      case Scan::kBlank:
        break;
      case Scan::kMore:
        refill();
    }
  }
}

// One row from at_ if it has a line of its own in the buffer and no quotes; consumes nothing and
// says false of any other, and of what may be wrong.
bool CsvReader::scan_plain_row() {
  char* begin = at_;  // of the cell
  for (char* block = at_;; block += kAhead) {
    for (uint64_t ends = ends_of_plain(block, separator_); ends != 0; ends &= ends - 1) {
      char* const at = block + std::countr_zero(ends);
      cells_.push_back({begin, static_cast<uint32_t>(at - begin), 0, false});
      if (*at == separator_ && cells_.size() < kMostColumns) {
        begin = at + 1;
        continue;
      }
      const int line_end = *at == '\n' ? 1 : *at == '\r' && at[1] == '\n' ? 2 : 0;
      if (line_end == 0 || at == at_) return false;
      at_ = at + line_end;
      ++next_line_;
      return true;
    }
  }
}

// One row from at_; consumes nothing if the buffer ends before the row does.
CsvReader::Scan CsvReader::scan_row() {
  cells_.clear();
  line_ = next_line_;
  if (at_ == end_) return last_ ? Scan::kEnd : Scan::kMore;
  if (scan_plain_row()) return Scan::kRow;
  cells_.clear();
  uint32_t lines = 0;
  bool escaped = false;
  bool quoted = false;
  char* at = at_;
  while (true) {
    quoted = *at == '"';
    if ((quoted ? scan_quoted(at, lines) : scan_plain(at, lines)) == Scan::kMore)
      return Scan::kMore;
    escaped |= cells_.back().escaped;
    if (at == end_ || *at != separator_) break;
    if (cells_.size() == kMostColumns) {
      throw fault(line_ + lines, fmt::format("more than {} columns", kMostColumns));
    }
    ++at;
  }
  if (at != end_) at += *at == '\r' ? 2 : 1;
  at_ = std::min(at, end_);
  next_line_ += lines + 1;
  if (cells_.size() == 1 && cells_[0].size == 0 && !quoted) return Scan::kBlank;
  if (escaped) {
    for (Cell& cell : cells_) unescape(cell);
  }
  return Scan::kRow;
}

// Leaves `at` on the separator, the line end or the end of the file behind the cell.
CsvReader::Scan CsvReader::scan_plain(char*& at, uint32_t lines) {
  char* const begin = at;
  at = end_of_plain(at, separator_);
  cells_.push_back({begin, static_cast<uint32_t>(at - begin), lines, false});
  if (at == end_) return last_ ? Scan::kRow : Scan::kMore;
  if (*at == separator_ || *at == '\n') return Scan::kRow;
  if (*at == '"') {
    throw fault(line_ + lines, fmt::format("cell {} has a quote inside but does not start with one",
                                           cells_.size()));
  }
  if (*at != '\r') throw garbage(line_ + lines, *at);
  if (at + 1 == end_) return last_ ? Scan::kRow : Scan::kMore;
  if (at[1] != '\n') throw garbage(line_ + lines, *at);
  return Scan::kRow;
}

CsvReader::Scan CsvReader::scan_quoted(char*& at, uint32_t& lines) {
  char* const begin = ++at;
  const uint32_t first_line = lines;
  bool escaped = false;
  for (;; ++at) {
    if (at == end_) {
      if (!last_) return Scan::kMore;
      throw fault(line_ + first_line,
                  fmt::format("the quote of cell {} is never closed", cells_.size() + 1));
    }
    if (*at == '"') {
      if (at + 1 == end_ && !last_) return Scan::kMore;
      if (at + 1 == end_ || at[1] != '"') break;
      escaped = true;
      ++at;
    } else if (*at == '\n') {
      ++lines;
    } else if (in_no_text(*at)) {
      throw garbage(line_ + lines, *at);
    }
  }
  const auto size = static_cast<uint32_t>(at - begin);
  ++at;
  if (at != end_ && *at != separator_ && *at != '\n' && *at != '\r') {
    throw fault(line_ + lines,
                fmt::format("cell {} goes on after its closing quote", cells_.size() + 1));
  }
  const Scan after = scan_plain(at, lines);  // what ends the cell; adds an empty one
  cells_.back() = {begin, size, first_line, escaped};
  return after;
}

void CsvReader::unescape(Cell& cell) {
  if (!cell.escaped) return;
  char* out = cell.begin;
  for (uint32_t i = 0; i < cell.size; ++i) {
    *out++ = cell.begin[i];
    if (cell.begin[i] == '"') ++i;
  }
  cell.size = static_cast<uint32_t>(out - cell.begin);
}

void CsvReader::refill() {
  throw_if_stopped();
  const auto kept = static_cast<size_t>(end_ - at_);
  if (kept >= kLongestLine) {
    throw fault(line_, fmt::format("the row is longer than {} MiB; is a quote never closed?",
                                   kLongestLine >> 20));
  }
  const auto offset = static_cast<size_t>(at_ - buffer_.data());
  if (kept + kAhead > buffer_.size() / 2) buffer_.resize(2 * buffer_.size());
  at_ = buffer_.data();
  std::memmove(at_, at_ + offset, kept);
  const size_t room = buffer_.size() - kAhead - kept;
  const size_t count = file_.read(at_ + kept, room);
  last_ = count < room;
  end_ = at_ + kept + count;
  *end_ = '\0';
}

double CsvReader::number(size_t column) const {
  const std::string_view cell = text(column);
  double value = 0;
  if (separator_ == ',' && read_plain_decimal(cell.data(), cell.size(), value)) return value;
  auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (separator_ == ',' && parsed.ec == std::errc() && parsed.ptr == cell.data() + cell.size() &&
      std::isfinite(value)) {
    return value;
  }
  std::string digits(digits_of(cell));
  const size_t mark = digits.find_first_of(".,");
  if (mark != std::string::npos) check_mark(column, digits, mark);
  parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = parsed.ptr == digits.data() + digits.size();
  if (whole && parsed.ec == std::errc::result_out_of_range) {  // 1e-999 is 0, 1e999 is no number
    value = std::strtod(digits.c_str(), nullptr);
    parsed.ec = std::errc();
  }
  if (!whole || parsed.ec != std::errc()) throw expected(column, "a number");
  if (!std::isfinite(value)) throw expected(column, "a finite number");
  return value;
}

// Where cells are separated by semicolons a number may have a decimal comma, then all of them do.
void CsvReader::check_mark(size_t column, std::string& digits, size_t at) const {
  const char mark = digits[at];
  if (separator_ == ',') {
    if (mark == ',') throw expected(column, "a number with a decimal point");
    return;
  }
  if (digits.find_first_of(".,", at + 1) != std::string::npos) {
    throw expected(column, "a number without separators of thousands");
  }
  if (mark_ != 0 && mark_ != mark) {
    throw expected(column, fmt::format("a decimal {} as before", mark_ == ',' ? "comma" : "point"));
  }
  mark_ = mark;
  digits[at] = '.';
}

int64_t CsvReader::integer(size_t column) const {
  const std::string_view digits = digits_of(text(column));
  int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || end != digits.data() + digits.size()) {
    throw expected(column, "a whole number");
  }
  return value;
}

UserError CsvReader::expected(size_t column, std::string_view message) const {
  return fault(line_ + cells_[column].line,
               fmt::format("column '{}': expected {}, found '{}'", printable(columns_[column]),
                           message, printable(text(column))));
}

UserError CsvReader::fault(int64_t line, std::string_view message) const {
  return user_error("{}:{}: {}", name_, line, message);
}

UserError CsvReader::garbage(int64_t line, char byte) const {
  return fault(line, fmt::format("expected text, found the byte \\x{:02x}; is this a CSV file?",
                                 static_cast<unsigned char>(byte)));
}

size_t count_lines(const std::filesystem::path& path) {
  InputFile file(path);
  if (file.size() == 0) return 0;
  std::string buffer(buffer_for(file), '\0');
  size_t lines = 1;
  while (const size_t count = file.read(buffer.data(), buffer.size())) {
    lines += static_cast<size_t>(std::count(buffer.data(), buffer.data() + count, '\n'));
  }
  return lines;
}

CsvNumbers read_csv_numbers(const std::filesystem::path& path) {
  CsvReader reader(path);
  CsvNumbers table{.columns = reader.columns(), .values = {}};
  const size_t width = table.columns.size();
  table.values.reserve(count_lines(path) * width);
  while (reader.next()) {
    for (size_t i = 0; i < width; ++i) table.values.push_back(reader.number(i));
  }
  return table;
}

void CsvRow::separate() {
  if (cells_++ > 0) text_ += ',';
}

CsvRow& CsvRow::add(double value) { return add(std::span(&value, 1)); }

CsvRow& CsvRow::add(std::span<const double> values) {
  constexpr size_t kAtOnce = 16;
  std::array<char, kAtOnce*(kLongestNumber + 1)> block;
  while (!values.empty()) {
    const size_t count = std::min(kAtOnce, values.size());
    char* to = block.data();
    for (size_t k = 0; k < count; ++k) {
      if (cells_ + k > 0) *to++ = ',';
      to = write_number(to, values[k]);
    }
    cells_ += count;
    text_.append(block.data(), to);
    values = values.subspan(count);
  }
  return *this;
}

CsvRow& CsvRow::add(int64_t value) {
  separate();
  if (value >= 0 && value < 10) {
    text_ += static_cast<char>('0' + value);
    return *this;
  }
  char digits[24];
  text_.append(digits, fmt::format_to(digits, FMT_COMPILE("{}"), value));
  return *this;
}

CsvRow& CsvRow::add(std::string_view value) {
  separate();
  bool plain = true;
  for (const char c : value) plain &= c != ',' && c != '"' && c != '\r' && c != '\n';
  if (plain) {
    text_ += value;
    return *this;
  }
  text_ += '"';
  for (const char c : value) text_.append(c == '"' ? 2 : 1, c);
  text_ += '"';
  return *this;
}

const std::string& CsvRow::end() {
  if (text_.size() == begin_) text_ += "\"\"";  // a blank line would be no row
  text_ += '\n';
  begin_ = text_.size();
  cells_ = 0;
  return text_;
}

void CsvRow::clear() {
  text_.clear();
  begin_ = cells_ = 0;
}

CsvWriter::CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns)
    : file_(path) {
  for (const std::string& column : columns) row_.add(column);
  end_row();
}

void CsvWriter::end_row() {
  file_.write(row_.end());
  row_.clear();
}

}  // namespace agora

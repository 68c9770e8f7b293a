#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace agora {

// Reads RFC 4180 row by row in constant memory; the first row names the columns. CRLF, a byte-order
// mark and blank lines are accepted, and semicolons in place of commas if the header has only them;
// numbers may then have decimal commas. Whatever else is wrong is a UserError with file and line.
//
//   CsvReader reader("table.csv");
//   const auto at = reader.require({"state", "probability"});
//   while (reader.next()) use(reader.text(at[0]), reader.number(at[1]));
class CsvReader {
 public:
  explicit CsvReader(const std::filesystem::path& path);
  // The header, then only the rows of the bytes [begin, end), which start `lines` lines into the
  // file; both must be starts of lines.
  CsvReader(const std::filesystem::path& path, size_t begin, size_t end, int64_t lines);

  const std::vector<std::string>& columns() const { return columns_; }
  std::optional<size_t> find(std::string_view column) const;
  // The positions of the named columns; a missing one is an error that suggests the nearest.
  std::vector<size_t> require(const std::vector<std::string>& names) const;
  // Every column of the file must be one of these.
  void allow_only(const std::vector<std::string>& names) const;

  bool next();  // the next row; false at the end

  // Cells of the current row; the text lives until next().
  std::string_view text(size_t column) const { return {cells_[column].begin, cells_[column].size}; }
  bool empty(size_t column) const { return cells_[column].size == 0; }
  double number(size_t column) const;  // finite
  int64_t integer(size_t column) const;

  int64_t line() const { return line_; }  // where the current row starts, from 1
  // "file:line: column 'x': expected MESSAGE, found 'cell'".
  UserError expected(size_t column, std::string_view message) const;

 private:
  struct Cell {
    char* begin;
    uint32_t size;
    uint32_t line;  // lines after the row's first
    bool escaped;   // holds doubled quotes
  };
  enum class Scan { kRow, kBlank, kEnd, kMore };

  bool next_record();
  Scan scan_row();
  bool scan_plain_row();
  Scan scan_plain(char*& at, uint32_t lines);
  Scan scan_quoted(char*& at, uint32_t& lines);
  void unescape(Cell& cell);
  void refill();
  void find_separator();
  void read_header();
  void check_mark(size_t column, std::string& digits, size_t at) const;
  UserError fault(int64_t line, std::string_view message) const;
  UserError garbage(int64_t line, char byte) const;

  InputFile file_;
  std::string name_;
  std::string buffer_;  // the bytes [at_, end_) are not parsed yet; a zero follows them
  char* at_ = nullptr;
  char* end_ = nullptr;
  bool last_ = false;  // the file has no more bytes than those
  char separator_ = ',';
  mutable char mark_ = 0;  // the decimal mark seen first, where a comma may be one
  int64_t line_ = 0;
  int64_t next_line_ = 1;
  std::vector<Cell> cells_;
  std::vector<std::string> columns_;
};

// At most so many rows are in the file, to reserve memory; 0 if it is a pipe.
size_t count_lines(const std::filesystem::path& path);

// A file of numbers only.
struct CsvNumbers {
  std::vector<std::string> columns;
  std::vector<double> values;  // (rows, columns)
  size_t rows() const { return columns.empty() ? 0 : values.size() / columns.size(); }
};
CsvNumbers read_csv_numbers(const std::filesystem::path& path);

// Rows as text: numbers shortest so that they read back the same, quotes where needed.
class CsvRow {
 public:
  CsvRow& add(double value);
  CsvRow& add(std::span<const double> values);
  CsvRow& add(int64_t value);
  CsvRow& add(int value) { return add(int64_t{value}); }
  CsvRow& add(std::string_view value);
  CsvRow& add(const char* value) { return add(std::string_view(value)); }
  CsvRow& add(const std::string& value) { return add(std::string_view(value)); }
  const std::string& end();  // ends the row; all rows so far
  const std::string& text() const { return text_; }
  void clear();  // keeps the memory

 private:
  void separate();
  std::string text_;
  size_t begin_ = 0;  // of the current row
  size_t cells_ = 0;
};

// The file appears whole at commit().
class CsvWriter {
 public:
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns);
  // writer.row(3, 0.5, "text");
  template <typename... Cells>
  void row(const Cells&... cells) {
    (row_.add(cells), ...);
    end_row();
  }
  template <typename Value>
  void cell(const Value& value) {
    row_.add(value);
  }
  void end_row();
  void rows(const CsvRow& rows) { file_.write(rows.text()); }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  CsvRow row_;
};

}  // namespace agora

#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace agora::planning {

// "3", "-.5", "1e-3", "1/3", "nan"; nothing if the whole text is not a number.
std::optional<double> to_number(std::string_view text);
// Decimal digits without sign or superfluous zeros, at most 2^31 - 2.
std::optional<int32_t> to_index(std::string_view text);

// Words between blanks; part of the text given.
std::vector<std::string_view> words(std::string_view text);

// Lines of a file, streamed; the ends \n and \r\n are taken off, and a byte order mark.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file) : file_(file) {}
  // False at the end. The line stays valid until the next call.
  bool next(std::string_view& line);
  int64_t number() const { return number_; }            // of the line given last, from 1
  size_t position() const { return offset_ + begin_; }  // of the next line, in bytes
  // From here on only the bytes [begin, end), which start `lines` lines into the file.
  void restrict_to(size_t begin, size_t end, int64_t lines);

 private:
  bool fill();

  InputFile file_;
  std::string buffer_;
  size_t begin_ = 0;
  size_t offset_ = 0;  // of the buffer in the file
  int64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace agora::planning

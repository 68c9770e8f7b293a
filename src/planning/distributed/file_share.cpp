#include "planning/distributed/file_share.h"

#include <algorithm>

#include "base/files.h"
#include "base/thread_pool.h"
#include "planning/model/text.h"

namespace agora::planning {
namespace {

// The first byte at or after `from` that starts a line beginning with `prefix`.
size_t line_start(const std::filesystem::path& file, size_t from, std::string_view prefix,
                  size_t size) {
  if (from == 0 || from >= size) return std::min(from, size);
  LineReader lines(file);
  lines.restrict_to(from - 1, size, 1);
  std::string_view line;
  lines.next(line);  // the rest of the line before, empty if `from` starts one
  for (size_t start = lines.position(); lines.next(line); start = lines.position()) {
    if (line.starts_with(prefix)) return start;
  }
  return size;
}

}  // namespace

FileShare file_share(const std::filesystem::path& file, int share, int shares,
                     std::string_view prefix) {
  const size_t size = InputFile(file).size();
  const Range bytes = part_range(static_cast<int64_t>(size), share, shares);
  return {line_start(file, static_cast<size_t>(bytes.begin), prefix, size),
          line_start(file, static_cast<size_t>(bytes.end), prefix, size)};
}

int64_t lines_of(const std::filesystem::path& file, const FileShare& share) {
  InputFile input(file);
  input.restrict_to(share.begin, share.end);
  std::string buffer(size_t{1} << 20, '\0');
  int64_t lines = 0;
  while (const size_t count = input.read(buffer.data(), buffer.size())) {
    lines += std::count(buffer.data(), buffer.data() + count, '\n');
  }
  return lines;
}

}  // namespace agora::planning

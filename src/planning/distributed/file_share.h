#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace agora::planning {

// Whole lines of a file: the bytes [begin, end).
struct FileShare {
  size_t begin = 0, end = 0;
  int64_t lines_before = 0;  // for messages; whoever counts the lines of all shares sets it
};

// Cuts a file into `shares` at starts of lines, or of lines that begin with `prefix`; every such
// line belongs to one share, the lines before the first of them to share 0.
FileShare file_share(const std::filesystem::path& file, int share, int shares,
                     std::string_view prefix = {});
int64_t lines_of(const std::filesystem::path& file, const FileShare& share);

}  // namespace agora::planning

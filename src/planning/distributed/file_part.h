#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace agora::planning {

// Whole lines of a file: the bytes [begin, end).
struct FilePart {
  size_t begin = 0, end = 0;
  int64_t lines_before = 0;  // for messages; whoever counts the lines of all parts sets it
};

// Cuts a file into `parts` at starts of lines, or of lines that begin with `prefix`; every such
// line belongs to one part, the lines before the first of them to part 0.
FilePart file_part(const std::filesystem::path& file, int part, int parts,
                   std::string_view prefix = {});
int64_t lines_of(const std::filesystem::path& file, const FilePart& part);

}  // namespace agora::planning

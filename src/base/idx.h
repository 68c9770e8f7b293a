#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agora {

// An array of bytes as MNIST and its relatives keep it: two zeros, 8, the number of dimensions,
// each of them as a big-endian word, the bytes.
struct IdxArray {
  std::vector<int64_t> shape;
  std::vector<uint8_t> values;
};

// A file, as it is or packed by gzip. What is not one, or not all of one, is a UserError; memory
// stays within what the file holds.
IdxArray read_idx(const std::filesystem::path& path);
IdxArray parse_idx(std::string_view bytes, const std::string& name);

}  // namespace agora

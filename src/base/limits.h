#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace agora {

// What is read of a file at most, so that one made in error or in malice is refused before it has
// taken the memory. Everything beyond is a UserError that names the limit.
inline constexpr size_t kLongestToml = size_t{1} << 20;
inline constexpr size_t kLongestJson = size_t{1} << 26;
inline constexpr size_t kLongestCassandra = size_t{1} << 26;
inline constexpr size_t kLongestIdx = size_t{1} << 30;
inline constexpr size_t kLongestLine = size_t{1} << 24;      // of a map, a DRN file or a CSV file
inline constexpr size_t kMostColumns = size_t{1} << 14;      // of a CSV file
inline constexpr size_t kMostDepth = 100;                    // of brackets in JSON
inline constexpr size_t kMostDots = 16;                      // of a key in TOML
inline constexpr size_t kLongestTensorHeader = 100'000'000;  // as in the reference implementation

// The whole of a text file; a longer one and one with a zero byte are refused as soon as that is
// seen.
std::string read_text(const std::filesystem::path& path, size_t longest);

// Refuse more than kMostDepth and kMostDots: what walks through JSON and TOML calls itself.
void expect_shallow_json(std::string_view text, const std::string& name);
void expect_shallow_toml(std::string_view text, const std::string& name);

}  // namespace agora

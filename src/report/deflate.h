#pragma once
#include <string>
#include <string_view>

namespace agora::report {

// A zlib stream (RFC 1950, 1951): one block with fixed codes, repeats found by hashing.
std::string zlib_compress(std::string_view bytes);

}  // namespace agora::report

#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace agora::report {

uint32_t crc32(std::string_view bytes, uint32_t before = 0);  // PNG chunks (ISO 3309)
uint32_t crc32c(std::string_view bytes);                      // TensorBoard records (Castagnoli)
uint32_t adler32(std::string_view bytes);                     // end of a zlib stream

std::string big_endian(uint32_t word);  // four bytes, as PNG and zlib store them

}  // namespace agora::report

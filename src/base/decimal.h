#pragma once
#include <cstddef>

namespace agora {

// The value of plain digits such as 17 or -0.25, the same bits as from_chars gives; false where the
// text is anything else, has many digits or is too close to the middle between two doubles. The 16
// bytes behind the text must be readable.
bool read_plain_decimal(const char* text, size_t size, double& value);

constexpr size_t kDecimalAhead = 16;

}  // namespace agora

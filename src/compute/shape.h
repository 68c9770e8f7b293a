#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace agora::compute {

// The sizes of a tensor's axes. A row-local tensor has kRows as its first axis: how many rows
// there are is known only when a program runs. A shared tensor (a parameter) has no row axis.
using Shape = std::vector<int64_t>;
constexpr int64_t kRows = -1;

inline bool is_row_local(const Shape& shape) { return !shape.empty() && shape[0] == kRows; }
Shape feature_shape(const Shape& shape);  // without the row axis
int64_t feature_count(const Shape& shape);
std::string to_string(const Shape& shape);  // "(rows, 2, 3)"

}  // namespace agora::compute

#include "compute/kernel/gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/kernel/prelude_text.h"

namespace agora::compute::kernel {
namespace {

constexpr int64_t kThreads = 256, kBlocksEach = 8;

// Rows are copied in pieces of sixteen bytes, four or one.
int64_t piece_of(int64_t bytes) { return bytes % 16 == 0 ? 16 : bytes % 4 == 0 ? 4 : 1; }

std::string text_of(int64_t bytes) {
  const int64_t piece = piece_of(bytes);
  std::string text = fmt::format(
      "using Real = float; constexpr int kLanes = 8, kBlockThreads = {}; constexpr bool kShort = "
      "false;\n",
      kThreads);
  text += kPrelude;
  text += fmt::format(
      "struct alignas({0}) Piece {{ unsigned char bytes[{0}]; }};\n"
      "struct Arguments {{ const Piece* from; const int* chosen; Piece* to; int64 rows, first; "
      "}};\n"
      "#ifdef __CUDACC__\nKERNEL program(const __grid_constant__ Arguments a) {{\n"
      "#else\nKERNEL program(const Arguments& a) {{\n#endif\n"
      "const int64 step = int64(kThreads) * block_count();\n"
      "for (int64 i = int64(block_index()) * kThreads + thread_index(); i < a.rows * {1}; i += "
      "step)"
      "\na.to[i] = a.from[(a.chosen != 0 ? int64(a.chosen[i / {1}]) : a.first + i / {1}) * {1} + "
      "i % {1}]; }}\n",
      piece, bytes / piece);
  return text;
}

}  // namespace

void Gather::run(const DeviceMemory& table, std::span<const int32_t> chosen, int64_t bytes,
                 const DeviceMemory& to) {
  if (bytes != bytes_) {
    kernel_ = machine_.compile(text_of(bytes), kThreads, 0, false);
    bytes_ = bytes;
  }
  if (chosen_ == nullptr) chosen_ = machine_.allocate(capacity_ * 4, "rows that are chosen");
  const int64_t rows = std::ssize(chosen);
  // Neighbours need no list.
  bool neighbours = true;
  for (int64_t k = 0; k < rows; ++k) {
    neighbours = neighbours && chosen[static_cast<size_t>(k)] == chosen[0] + k;
  }
  if (!neighbours) chosen_->write(chosen.data(), rows * 4);
  const auto address = [](const DeviceMemory& it) {
    return reinterpret_cast<uint64_t>(it.as<void>());
  };
  const uint64_t arguments[] = {address(table), neighbours ? 0 : address(*chosen_), address(to),
                                static_cast<uint64_t>(rows), static_cast<uint64_t>(chosen[0])};
  const int64_t blocks = (rows * (bytes / piece_of(bytes)) + kThreads - 1) / kThreads;
  kernel_->start(std::min(blocks, machine_.blocks() * kBlocksEach), arguments);
}

}  // namespace agora::compute::kernel

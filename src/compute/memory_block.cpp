#include "compute/memory_block.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "base/error.h"

namespace agora::compute {
namespace {

// The first whole number in a file after `key`, or `otherwise`.
int64_t number_in(const char* file, const std::string& key, int64_t otherwise) {
  std::ifstream in(file);
  std::string word;
  while (!key.empty() && in >> word && word != key) {
  }
  int64_t value = 0;
  return in >> value ? value : otherwise;
}

// What the system would give without killing anybody: it promises more than it has.
int64_t available_bytes() {
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  const int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:", kUnknown >> 10);
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max", "", kUnknown);
  const int64_t used = number_in("/sys/fs/cgroup/memory.current", "", 0);
  return std::min(kilobytes << 10, limit == kUnknown ? kUnknown : limit - used);
}

}  // namespace

MemoryBlock::MemoryBlock(int64_t bytes, const char* purpose) {
  constexpr int64_t kLine = 64;
  constexpr int64_t kAlwaysThere = 64 << 20;
  bytes_ = (bytes + kLine - 1) / kLine * kLine + kLine;
  const int64_t available = bytes_ > kAlwaysThere ? available_bytes() : bytes_;
  void* memory =
      bytes_ > available ? nullptr : std::aligned_alloc(kLine, static_cast<size_t>(bytes_));
  if (memory == nullptr) {
    throw user_error("out of memory: {} MiB for {}, {} MiB are free", bytes_ >> 20, purpose,
                     available_bytes() >> 20);
  }
  std::memset(memory, 0, static_cast<size_t>(bytes_));
  data_.reset(memory);
}

}  // namespace agora::compute

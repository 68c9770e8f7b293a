#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace agora::compute {

// Zeroed memory on cache-line boundaries. Running out of it is one clear line.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  explicit MemoryBlock(int64_t bytes, const char* purpose) {
    constexpr int64_t kLine = 64;
    bytes_ = (bytes + kLine - 1) / kLine * kLine + kLine;
    // Beyond any address space: do not even ask.
    constexpr int64_t kLimit = int64_t{1} << 46;
    void* memory =
        bytes_ > kLimit ? nullptr : std::aligned_alloc(kLine, static_cast<size_t>(bytes_));
    if (memory == nullptr) {
      throw user_error("out of memory: {} MiB for {}", bytes_ >> 20, purpose);
    }
    std::memset(memory, 0, static_cast<size_t>(bytes_));
    data_.reset(memory);
  }

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_.get());
  }
  int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> data_;
  int64_t bytes_ = 0;
};

}  // namespace agora::compute

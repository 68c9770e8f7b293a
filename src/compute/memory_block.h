#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace agora::compute {

// Zeroed memory on cache-line boundaries. Running out of it is one clear line.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  MemoryBlock(int64_t bytes, const char* purpose);

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

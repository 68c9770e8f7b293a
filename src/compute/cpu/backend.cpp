#include "compute/backend.h"

#include <cstring>

#include "compute/cpu/elementwise.h"
#include "compute/cpu/executor.h"
#include "compute/memory_block.h"

namespace agora::compute {
namespace {

class HostMemory final : public DeviceMemory {
 public:
  HostMemory(int64_t bytes, const char* purpose) : block_(bytes, purpose) {
    data_ = block_.as<void>();
  }
  void write(const void* from, int64_t bytes, int64_t at) override {
    std::memcpy(as<char>() + at, from, static_cast<size_t>(bytes));
  }
  void read(void* to, int64_t bytes, int64_t at) const override {
    std::memcpy(to, as<char>() + at, static_cast<size_t>(bytes));
  }
  void copy(const DeviceMemory& from, int64_t bytes) override { write(from.as<void>(), bytes, 0); }

 private:
  MemoryBlock block_;
};

}  // namespace

const Backend& cpu_backend() {
  static const Backend it{
      .limits = {.group_instructions = cpu::kRegisters,
                 .alignment = 16,  // elements of a cache line
                 .steps_along_last_axis = true,
                 .fuses_epilogues = true,
                 .fuses_reflections = true},
      .allocate = [](int64_t bytes, const char* purpose) -> std::unique_ptr<DeviceMemory> {
        return std::make_unique<HostMemory>(bytes, purpose);
      },
      .make_executor = cpu::make_executor};
  return it;
}

}  // namespace agora::compute

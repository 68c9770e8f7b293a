#pragma once
#include <memory>
#include <span>

#include "compute/kernel/machine.h"

namespace agora::compute::kernel {

// Copies rows of a table of bytes to an input, on the device.
class Gather {
 public:
  Gather(Machine& machine, int64_t rows) : machine_(machine), capacity_(rows) {}
  void run(const DeviceMemory& table, std::span<const int32_t> chosen, int64_t bytes,
           const DeviceMemory& to);

 private:
  Machine& machine_;
  int64_t capacity_;
  std::unique_ptr<Kernel> kernel_;  // made when it is first needed,
  int64_t bytes_ = 0;               // for rows of so many bytes
  std::unique_ptr<DeviceMemory> chosen_;
};

}  // namespace agora::compute::kernel

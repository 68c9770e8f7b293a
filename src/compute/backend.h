#pragma once
#include <memory>

#include "compute/device.h"
#include "compute/executor.h"
#include "compute/plan.h"

// What a device brings: memory, limits of its plans, and what runs them.
namespace agora::compute {

// Memory of a device, zeroed. Whoever looks at it from the host copies.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // `at`: the byte to begin with.
  virtual void write(const void* from, int64_t bytes, int64_t at = 0) = 0;
  virtual void read(void* to, int64_t bytes, int64_t at = 0) const = 0;
  virtual void copy(const DeviceMemory& from, int64_t bytes) = 0;  // of the same device
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);  // an address of the device
  }

 protected:
  void* data_ = nullptr;
};

struct Backend {
  PlanLimits limits;
  std::unique_ptr<DeviceMemory> (*allocate)(int64_t bytes, const char* purpose);
  std::unique_ptr<Executor> (*make_executor)(const Plan& plan, Variables& variables,
                                             const ExecutorOptions& options);
  // While the result lives, copies from that memory of the host to the device go on by themselves:
  // what is there stays as it is until a program that needs it has run. Null where it makes no
  // difference.
  std::shared_ptr<void> (*pin)(const void* memory, int64_t bytes) = nullptr;
};
// The one place that knows which device is served by whom; a UserError where none is.
const Backend& backend(Device device);

const Backend& cpu_backend();
const Backend& cuda_backend();

// While it lives, programs of the GPU are run by another backend: tests have one without a GPU.
class InsteadOfCuda {
 public:
  explicit InsteadOfCuda(const Backend& backend);
  ~InsteadOfCuda();
  InsteadOfCuda(const InsteadOfCuda&) = delete;
  InsteadOfCuda& operator=(const InsteadOfCuda&) = delete;
};

}  // namespace agora::compute

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

// A queue of a device beside the common one, for a thread whose work need not wait for that of
// others.
class Lane {
 public:
  virtual ~Lane() = default;
  // What this thread gives the device goes here, after all that the common queue has now, ...
  virtual void enter() = 0;
  virtual void leave() = 0;  // ... until then; all of it is done by now
};

// A thread's stay in a lane; null: none.
class InLane {
 public:
  explicit InLane(Lane* lane) : lane_(lane) {
    if (lane_ != nullptr) lane_->enter();
  }
  ~InLane() {
    if (lane_ != nullptr) lane_->leave();
  }
  InLane(const InLane&) = delete;
  InLane& operator=(const InLane&) = delete;

 private:
  Lane* lane_;
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
  // Null where all that threads do is done at once.
  std::unique_ptr<Lane> (*make_lane)() = nullptr;
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

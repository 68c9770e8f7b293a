#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "compute/backend.h"

namespace agora::compute::kernel {

// A kernel ready to be started.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void start(int64_t blocks, std::span<const uint64_t> arguments) = 0;
};

// Starts of kernels that are known, to be made again at once.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void start() = 0;
};

// What runs generated kernels: a GPU, or a thread of the host in tests.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual std::unique_ptr<DeviceMemory> allocate(int64_t bytes, const char* purpose) = 0;
  // Memory for what the host reads after every run and kernels write now and then.
  virtual std::unique_ptr<DeviceMemory> allocate_near(int64_t bytes, const char* purpose) {
    return allocate(bytes, purpose);
  }
  // A kernel named `program`, whose blocks of `threads` have `fast_bytes` of their own, and run all
  // at once if they are to meet.
  virtual std::unique_ptr<Kernel> compile(const std::string& text, int64_t threads,
                                          int64_t fast_bytes, bool meet) = 0;
  // Of what `starts` starts, with the arguments they have now; nothing is run. Null where a machine
  // has none. All kernels have been started before.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& starts) {
    static_cast<void>(starts);
    return nullptr;
  }
  // What `starts` starts may run beside all that is started after it until meet_again().
  virtual void aside(const std::function<void()>& starts) { starts(); }
  virtual void meet_again() {}
  virtual int64_t blocks() const = 0;      // that run at once, one after the other's barrier
  virtual int64_t fast_bytes() const = 0;  // the most that a block can have
};

// Of an executor that runs the plan on the machine, which outlives it.
std::unique_ptr<Executor> make_executor(Machine& machine, const Plan& plan, Variables& variables,
                                        const ExecutorOptions& options);
PlanLimits plan_limits(const Machine& machine);

}  // namespace agora::compute::kernel

#pragma once
#include <memory>
#include <vector>

#include "compute/kernel/machine.h"

namespace agora::compute::kernel {

// The scalars that a program gives and the faults it found, brought to the host all at once.
class Scalars {
 public:
  // `places`: of the scalars, elements of the shared memory of floats.
  Scalars(Machine& machine, const std::vector<int64_t>& places);

  void start(const DeviceMemory& shared, const DeviceMemory& faults);
  void forget() { is_here_ = false; }  // a run begins
  float value(size_t k) const { return values()[k]; }
  std::vector<int32_t> faults() const;

 private:
  const std::vector<float>& values() const;

  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<DeviceMemory> there_;
  mutable std::vector<float> here_;  // scalars, then faults
  mutable bool is_here_ = false;
};

}  // namespace agora::compute::kernel

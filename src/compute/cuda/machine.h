#pragma once
#include "compute/kernel/machine.h"

namespace agora::compute::cuda {

// The GPU that this process uses: the first that CUDA shows it.
kernel::Machine& gpu();
// As Backend::pin; null where the system does not let it.
std::shared_ptr<void> pin(const void* memory, int64_t bytes);

}  // namespace agora::compute::cuda

#pragma once
#include "compute/kernel/machine.h"

namespace agora::compute::cuda {

// The GPU that this process uses: the first that CUDA shows it.
kernel::Machine& gpu();
// As Backend::pin; null where the system does not let it.
std::shared_ptr<void> pin(const void* memory, int64_t bytes);
// As Backend::make_lane. What goes there comes before what the common queue has.
std::unique_ptr<Lane> make_lane();

}  // namespace agora::compute::cuda

#pragma once
#include "compute/kernel/machine.h"

namespace agora::compute::cuda {

// The GPU that this process uses: the first that CUDA shows it.
kernel::Machine& gpu();

}  // namespace agora::compute::cuda

#pragma once
#include <cuda_runtime.h>

namespace agora::compute::cuda {

// A call that failed is a UserError in one line: what was tried and what CUDA says.
void require(cudaError_t status, const char* what);

}  // namespace agora::compute::cuda

#include <cuda_runtime.h>

#include "compute/device.h"

namespace agora::compute {

bool cuda_available() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

std::string cuda_description() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    return std::string("no usable GPU: ") + cudaGetErrorString(status);
  }
  if (count == 0) return "no GPU found";
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return "GPU 0 does not answer";
  return properties.name;
}

}  // namespace agora::compute

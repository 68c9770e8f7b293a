#include "compute/device.h"

#include <fmt/format.h>

#include "base/error.h"
#include "compute/cuda/calls.h"

namespace agora::compute {
namespace {

constexpr int kOldest = 8;  // compute capability whose tensor cores kernels use

// What keeps the GPU from being used, or nothing.
std::string obstacle(cudaDeviceProp& properties) {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();
    return fmt::format("no usable GPU: {}", cudaGetErrorString(status));
  }
  if (count == 0) return "no GPU found";
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, 0); status != cudaSuccess) {
    return fmt::format("the GPU does not answer: {}", cudaGetErrorString(status));
  }
  if (properties.major < kOldest) {
    return fmt::format("{} has compute capability {}.{}, {}.0 is the oldest that works",
                       properties.name, properties.major, properties.minor, kOldest);
  }
  return "";
}

}  // namespace

bool cuda_available() {
  cudaDeviceProp properties{};
  return obstacle(properties).empty();
}

std::string cuda_description() {
  cudaDeviceProp properties{};
  const std::string found = obstacle(properties);
  return found.empty() ? properties.name : found;
}

namespace cuda {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw user_error("device cuda: {}: {}", what, cudaGetErrorString(status));
}

}  // namespace cuda
}  // namespace agora::compute

#include "compute/device.h"

#include <atomic>

#include "base/error.h"
#include "compute/backend.h"

namespace agora::compute {
namespace {

std::atomic<Device> chosen{Device::kCpu};
std::atomic<const Backend*> instead_of_cuda{nullptr};

}  // namespace

std::string device_name(Device device) { return device == Device::kCpu ? "cpu" : "cuda"; }

Device device_named(std::string_view name) {
  if (name == "cpu") return Device::kCpu;
  if (name == "cuda") return Device::kCuda;
  throw user_error("there is no device '{}'{}", name, suggestion(name, {"cpu", "cuda"}));
}

Device default_device() { return chosen; }

void set_default_device(Device device) {
  backend(device);
  chosen = device;
}

const Backend& backend(Device device) {
  if (device == Device::kCpu) return cpu_backend();
  const Backend* const other = instead_of_cuda;
  return other != nullptr ? *other : cuda_backend();
}

InsteadOfCuda::InsteadOfCuda(const Backend& backend) { instead_of_cuda = &backend; }
InsteadOfCuda::~InsteadOfCuda() { instead_of_cuda = nullptr; }

}  // namespace agora::compute

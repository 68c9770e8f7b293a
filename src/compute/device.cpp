#include "compute/device.h"

#include <atomic>

#include "base/error.h"
#include "compute/backend.h"

namespace agora::compute {
namespace {

std::atomic<Device> chosen{Device::kCpu};

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
  return device == Device::kCuda ? cuda_backend() : cpu_backend();
}

}  // namespace agora::compute

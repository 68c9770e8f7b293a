#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace agora::compute {

// What variables live on and programs run on.
enum class Device : uint8_t { kCpu, kCuda };
std::string device_name(Device device);  // "cpu", "cuda"
Device device_named(std::string_view name);

// The device of variables that name none. One that this build or machine does not have is a
// UserError that says why.
Device default_device();
void set_default_device(Device device);

// The accelerator of this build: cuda/ or no_cuda/, which have the same file stems.
bool cuda_available();           // a GPU is present and usable
std::string cuda_description();  // its name, or why there is none

}  // namespace agora::compute

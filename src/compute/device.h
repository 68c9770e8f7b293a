#pragma once
#include <string>

namespace agora::compute {

// The accelerator backend of this build: cuda/ or no_cuda/, which have the same file stems.
bool cuda_available();           // a GPU is present and usable
std::string cuda_description();  // its name, or why there is none

}  // namespace agora::compute

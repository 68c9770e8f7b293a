#pragma once
#include <string>

namespace agora::compute::cuda {

// Compiles the text of a kernel for an architecture such as "sm_90": machine code to be loaded. The
// compiler (NVRTC) is looked for when it is first needed, and needs no GPU.
std::string compile_now(const std::string& text, const std::string& architecture);
// The same, kept in the user's cache ($XDG_CACHE_HOME or ~/.cache, agora/kernels) by the text.
std::string compile(const std::string& text, const std::string& architecture);

}  // namespace agora::compute::cuda

#include "compute/device.h"

namespace agora::compute {

bool cuda_available() { return false; }

std::string cuda_description() { return "this build has no CUDA (configure with --preset cuda)"; }

}  // namespace agora::compute

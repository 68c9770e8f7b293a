#include "compute/device.h"

namespace agora::compute {

bool cuda_available() { return false; }

std::string cuda_description() {
  return "this build has no CUDA (no CUDA toolkit was found when it was configured)";
}

}  // namespace agora::compute

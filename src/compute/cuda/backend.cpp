#include "compute/backend.h"

#include "base/error.h"

namespace agora::compute {

const Backend& cuda_backend() {
  if (!cuda_available()) throw user_error("device cuda: {}", cuda_description());
  throw user_error("device cuda: programs run on the CPU alone in this version");
}

}  // namespace agora::compute

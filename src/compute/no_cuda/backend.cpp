#include "compute/backend.h"

#include "base/error.h"

namespace agora::compute {

const Backend& cuda_backend() { throw user_error("device cuda: {}", cuda_description()); }

}  // namespace agora::compute

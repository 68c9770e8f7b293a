#include "compute/backend.h"

#include "base/error.h"
#include "compute/cuda/machine.h"

namespace agora::compute {

const Backend& cuda_backend() {
  static const Backend it = [] {
    if (!cuda_available()) throw user_error("device cuda: {}", cuda_description());
    return Backend{
        .limits = kernel::plan_limits(cuda::gpu()),
        .allocate = [](int64_t bytes,
                       const char* purpose) { return cuda::gpu().allocate(bytes, purpose); },
        .make_executor =
            [](const Plan& plan, Variables& variables, const ExecutorOptions& options) {
              return kernel::make_executor(cuda::gpu(), plan, variables, options);
            },
        .pin = cuda::pin,
        .make_lane = cuda::make_lane};
  }();
  return it;
}

}  // namespace agora::compute

#pragma once
#include "compute/executor.h"

namespace agora::compute::cpu {

std::unique_ptr<Executor> make_executor(const Plan& plan, Variables& variables,
                                        const ExecutorOptions& options);

}  // namespace agora::compute::cpu

#pragma once
#include <vector>

#include "compute/plan.h"

namespace agora::compute::kernel {

// Steps in waves: those of one wave do not touch what another of it writes, so they need no barrier
// between them. Memory that a plan uses twice counts as what it is.
std::vector<std::vector<const Step*>> waves_of(const Plan& plan, const std::vector<Step>& steps);

}  // namespace agora::compute::kernel

#pragma once
#include <vector>

#include "compute/plan.h"

namespace agora::compute::kernel {

// Steps in waves: those of one wave do not touch what another of it writes, so they need no barrier
// between them. Memory that a plan uses twice counts as what it is.
std::vector<std::vector<const Step*>> waves_of(const Plan& plan, const std::vector<Step>& steps);

// Whether two steps may not change places: one writes what the other touches. For a plan whose
// memory is not assigned yet.
bool depend(const Plan& plan, const Step& first, const Step& second);

// Steps in the order of the waves they would have if no memory were used twice: networks that do
// not depend on each other go side by side. For a plan whose memory is not assigned yet.
void order_by_depth(const Plan& plan, std::vector<Step>& steps);

}  // namespace agora::compute::kernel

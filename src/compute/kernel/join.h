#pragma once
#include "compute/plan.h"

// Fewer row steps that wait for one another, in a plan whose memory is not assigned yet.
namespace agora::compute::kernel {

// Elementwise steps of one shape become one where the second reads the first and nothing in
// between stands in the way; of at most so many instructions. What a pad, a short reduction or a
// larger group reads alone is computed where it is read.
void join_groups(Plan& plan, size_t most);

// Elementwise steps follow the reduction they read in its step.
void follow_reductions(Plan& plan);

}  // namespace agora::compute::kernel

#pragma once
#include "compute/plan.h"

// Results that take the place of what they were computed from, in a plan whose memory is not
// assigned yet.
namespace agora::compute::kernel {

// What a round of a loop computes and copies to a state at its end is computed there at once, if
// nobody needs the state of before any more.
void compute_states_in_place(Plan& plan);

// Lets a reflection write its last result where its input was, if that was computed just for it:
// whoever reflects cells has read them all.
void reflect_in_place(Plan& plan);

}  // namespace agora::compute::kernel

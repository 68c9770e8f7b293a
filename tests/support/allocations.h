#pragma once
#include <cstdint>

// Calls of operator new since the program started; counted in allocations.cpp, apart from its
// callers, so that the compiler does not pair our delete with its new.
int64_t allocations_so_far();

#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace agora::compute::cpu {

struct Options {
  int64_t lanes = 0;           // rows of a tile: 16, 32 or 64; 0: by the size of the scratch
  int64_t parts = 0;           // partial sums of cross-row reductions; 0: up to 8
  ThreadPool* pool = nullptr;  // null: default_pool() at each run
};

}  // namespace agora::compute::cpu

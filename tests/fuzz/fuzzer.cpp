// What libFuzzer calls: the one target of the program.
#include <stddef.h>

#include "base/thread_pool.h"
#include "fuzz/target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  agora::set_default_threads(1);  // two targets run side by side, and faults come again
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const agora::fuzz::Target target = agora::fuzz::targets().begin()->second;
  agora::fuzz::accepts(target, {reinterpret_cast<const char*>(data), size});
  return 0;
}

#include <unistd.h>

#include "base/processor.h"

// Compiled for every x86-64 processor: one that lacks what the rest is compiled for gets a line
// instead of SIGILL.
namespace agora {
namespace {

template <int kSize>
[[noreturn]] void refuse(const char (&line)[kSize]) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, kSize - 1);
  _exit(2);
}

}  // namespace

__attribute__((constructor(101))) void check_processor() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
    refuse("agora: this processor has no AVX2 and FMA (x86-64-v3), which agora needs\n");
  }
  if (kBuiltForAvx512 &&
      (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
       !__builtin_cpu_supports("avx512vl"))) {
    refuse(
        "agora: built for a processor with AVX-512; the preset `package` makes one for others\n");
  }
}

}  // namespace agora

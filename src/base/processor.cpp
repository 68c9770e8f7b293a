#include "base/processor.h"

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/features.h"
#include "base/instruction_set.h"

namespace agora {
namespace {

bool has_avx512() {  // x86-64-v4
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

VectorSet choose() {
  constexpr VectorSet kOwn = AGORA_AVX512 ? VectorSet::kAvx512 : VectorSet::kAvx2;
  const char* const variable = std::getenv("AGORA_KERNELS");
  const std::string_view asked = variable == nullptr ? "" : variable;
  if (!asked.empty() && asked != "best" && asked != "avx2" && asked != "avx512") {
    throw user_error("AGORA_KERNELS: expected avx2, avx512 or best, found '{}'", asked);
  }
  if (!AGORA_HAS_BOTH_VECTOR_SETS) {
    if (asked.empty() || asked == "best" || asked == vector_set_name(kOwn)) return kOwn;
    throw user_error("AGORA_KERNELS: this build has {} alone, found '{}'", vector_set_name(kOwn),
                     asked);
  }
  const std::string_view name = asked.empty() ? AGORA_KERNELS : asked;
  if (name == "avx512" && !has_avx512()) {
    throw user_error("AGORA_KERNELS: this processor has no AVX-512");
  }
  return name != "avx2" && has_avx512() ? VectorSet::kAvx512 : VectorSet::kAvx2;
}

}  // namespace

extern const bool kBuiltForAvx512 = AGORA_AVX512;

VectorSet vector_set() {
  static const VectorSet chosen = choose();
  return chosen;
}

const char* vector_set_name(VectorSet set) { return set == VectorSet::kAvx512 ? "avx512" : "avx2"; }

}  // namespace agora

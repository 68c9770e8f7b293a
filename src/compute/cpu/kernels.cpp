#include "compute/cpu/kernels.h"

#include "base/features.h"
#include "base/instruction_set.h"
#include "base/processor.h"

namespace agora::compute::cpu {

namespace AGORA_VECTORS {
const Kernels<float>& float_kernels();
const Kernels<double>& double_kernels();
}  // namespace AGORA_VECTORS
#if AGORA_HAS_BOTH_VECTOR_SETS
namespace avx512 {
const Kernels<float>& float_kernels();
const Kernels<double>& double_kernels();
}  // namespace avx512
#endif

template <>
const Kernels<float>& kernels() {
#if AGORA_HAS_BOTH_VECTOR_SETS
  if (vector_set() == VectorSet::kAvx512) return avx512::float_kernels();
#endif
  return AGORA_VECTORS::float_kernels();
}

template <>
const Kernels<double>& kernels() {
#if AGORA_HAS_BOTH_VECTOR_SETS
  if (vector_set() == VectorSet::kAvx512) return avx512::double_kernels();
#endif
  return AGORA_VECTORS::double_kernels();
}

}  // namespace agora::compute::cpu

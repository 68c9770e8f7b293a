#include "compute/cpu/kernels/functions.h"
#include "compute/cpu/kernels/gemm.h"

namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {

template <typename Real>
constexpr Kernels<Real> kTable{.matmul = tile_matmul<Real>,
                               .outer = tile_outer<Real>,
                               .conv3x3 = tile_conv3x3<Real>,
                               .conv3x3_input = tile_conv3x3_input<Real>,
                               .conv3x3_weight = tile_conv3x3_weight<Real>,
                               .pool = tile_pool<Real>,
                               .pool_gradient = tile_pool_gradient<Real>,
                               .reduce = tile_reduce<Real>,
                               .softmax = tile_softmax<Real>,
                               .sum_rows = tile_sum_rows<Real>,
                               .reflect = tile_reflect<Real>,
                               .transpose = transpose<Real>,
                               .elementwise = elementwise_kernel<Real>,
                               .macro = macro_kernel<Real>};

const Kernels<float>& float_kernels() { return kTable<float>; }
const Kernels<double>& double_kernels() { return kTable<double>; }

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

#pragma once
#include "base/instruction_set.h"
#include "compute/cpu/kernels.h"

// What the table of an instruction set lists. The files of this folder are compiled once for each,
// so all that is in them is in its namespace, and they use no function that other files may share
// with them: of an inline function the linker keeps one copy, perhaps one that not every processor
// can run. tests/install/kernels_test.sh looks at the symbols.
namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {

template <typename Real>
void tile_matmul(const TileMatmul<Real>& job);
template <typename Real>
void tile_outer(const TileOuter<Real>& job);
template <typename Real>
void tile_conv3x3(const TileConv<Real>& job);
template <typename Real>
void tile_conv3x3_input(const TileConvInput<Real>& job);
template <typename Real>
void tile_conv3x3_weight(const TileConvWeight<Real>& job);
template <typename Real>
void tile_pool(const TilePool<Real>& job);
template <typename Real>
void tile_pool_gradient(const TilePool<Real>& job);
template <typename Real>
void tile_reduce(const TileReduce<Real>& job);
template <typename Real>
void tile_softmax(const TileSoftmax<Real>& job);
template <typename Real>
void tile_sum_rows(const TileSumRows<Real>& job);
template <typename Real>
void tile_reflect(const TileReflect<Real>& job);
template <typename Real>
Elementwise<Real> elementwise_kernel(Op op, std::array<bool, 3> splat);
template <typename Real>
Elementwise<Real> macro_kernel(Macro macro);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

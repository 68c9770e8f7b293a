#pragma once
#include "compute/graph.h"

namespace agora::compute {

// Records the gradients of sum(loss) with respect to each of `wrt`, as nodes of the same graph.
// A tensor that the loss does not depend on gets zeros.
Tensors gradients(Tensor loss, const Tensors& wrt);
// The same numbers, found by slopes `scale` times as large, a power of two: short products
// (program.h) lose what is small.
Tensors scaled_gradients(Tensor loss, const Tensors& wrt, double scale);

}  // namespace agora::compute

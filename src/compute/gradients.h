#pragma once
#include "compute/graph.h"

namespace agora::compute {

// Records the gradients of sum(loss) with respect to each of `wrt`, as nodes of the same graph.
// A tensor that the loss does not depend on gets zeros.
Tensors gradients(Tensor loss, const Tensors& wrt);

}  // namespace agora::compute

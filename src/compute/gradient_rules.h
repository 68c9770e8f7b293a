#pragma once
#include "compute/operation.h"

// The gradients that take more than an expression (see Operation::gradient).
namespace agora::compute::gradient_of {

void concat(const GradientOf& it);
void matmul(const GradientOf& it);
void block_matmul(const GradientOf& it);
void conv(const GradientOf& it);

// max(a, b): the gradient goes to a where a >= b; min(a, b): to a where b >= a.
void choice(const GradientOf& it, Tensor larger, Tensor smaller);

std::vector<int64_t> inverse(const std::vector<int64_t>& order);  // of a permutation

}  // namespace agora::compute::gradient_of

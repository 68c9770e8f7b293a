#pragma once
#include <cstdint>
#include <span>

#include "base/rng.h"
#include "compute/operations.h"

// Categorical distributions over the last axis of logits. Log-probability, entropy and divergence
// are graph operations (compute/operations.h); drawing happens outside of programs.
namespace agora::nn {

using compute::categorical_entropy;
using compute::categorical_kl;
using compute::categorical_log_prob;

// Index of a draw with probabilities softmax(logits); takes one uniform from rng.
int32_t sample_categorical(std::span<const float> logits, Rng& rng);
int32_t most_likely(std::span<const float> logits);  // the first of equals

}  // namespace agora::nn

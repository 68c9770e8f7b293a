#pragma once
#include "compute/graph.h"

// Initial weights. A weight's last axis is its outputs, the axis before it its inputs, and any
// axes before those are taps of a convolution: (in, out) or (3, 3, in, out).
namespace agora::nn {

using compute::filled;
using compute::Initializer;
using compute::zeros;

Initializer xavier_uniform(double gain);  // U(+-gain sqrt(6 / (fan_in + fan_out)))
Initializer glorot_uniform();             // Xavier with gain 1
Initializer he_normal();                  // N(0, 2 / fan_in)
Initializer orthogonal(double gain);      // orthonormal rows or columns times gain
Initializer uniform(double low, double high);

constexpr double kTanhGain = 5.0 / 3.0;
constexpr double kReluGain = 1.41421356237309504880;

}  // namespace agora::nn

#include "compute/cpu/kernels/vector_math.h"

namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {

template <typename Real>
void vector_tanh(const Real* x, Real* y, int64_t n) {
  map(
      n, y, [](Vec<Real> v) { return tanh(v); }, x);
}
template <typename Real>
void vector_exp(const Real* x, Real* y, int64_t n) {
  map(
      n, y, [](Vec<Real> v) { return exp(v); }, x);
}
template <typename Real>
void vector_log(const Real* x, Real* y, int64_t n) {
  map(
      n, y, [](Vec<Real> v) { return log(v); }, x);
}
template <typename Real>
void vector_sigmoid(const Real* x, Real* y, int64_t n) {
  map(
      n, y, [](Vec<Real> v) { return sigmoid(v); }, x);
}
template <typename Real>
void vector_softplus(const Real* x, Real* y, int64_t n) {
  map(
      n, y, [](Vec<Real> v) { return softplus(v); }, x);
}

template void vector_tanh(const float*, float*, int64_t);
template void vector_tanh(const double*, double*, int64_t);
template void vector_exp(const float*, float*, int64_t);
template void vector_exp(const double*, double*, int64_t);
template void vector_log(const float*, float*, int64_t);
template void vector_log(const double*, double*, int64_t);
template void vector_sigmoid(const float*, float*, int64_t);
template void vector_sigmoid(const double*, double*, int64_t);
template void vector_softplus(const float*, float*, int64_t);
template void vector_softplus(const double*, double*, int64_t);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

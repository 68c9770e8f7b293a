#include <algorithm>

#include "compute/cpu/kernels/functions.h"
#include "compute/cpu/kernels/simd.h"

namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {
namespace {

// The part of the input that the window of output position `out` covers.
struct Window {
  int64_t begin, end;
};
Window window(int64_t out, int64_t size) {
  return {std::max<int64_t>(0, 2 * out - 1), std::min(size, 2 * out + 2)};
}

// visit(offset of the input vector, offset of the output vector, down, across) for every vector.
template <typename Real, typename Visit>
void for_each_window(const TilePool<Real>& job, Visit visit) {
  const int64_t out_height = (job.height + 1) / 2, out_width = (job.width + 1) / 2;
  const int64_t pixel = job.channels * job.lanes;
  for (int64_t h = 0; h < out_height; ++h) {
    for (int64_t w = 0; w < out_width; ++w) {
      for (int64_t at = 0; at < pixel; at += Vec<Real>::kLanes) {
        visit(at, (h * out_width + w) * pixel + at, window(h, job.height), window(w, job.width));
      }
    }
  }
}

template <typename Real>
Vec<Real> maximum(const TilePool<Real>& job, int64_t at, Window down, Window across) {
  const int64_t pixel = job.channels * job.lanes;
  Vec<Real> best = Vec<Real>::load(job.x + (down.begin * job.width + across.begin) * pixel + at);
  for (int64_t h = down.begin; h < down.end; ++h) {
    for (int64_t w = across.begin; w < across.end; ++w) {
      const Vec<Real> value = Vec<Real>::load(job.x + (h * job.width + w) * pixel + at);
      best = select(value <= best, best, value);  // a NaN stays
    }
  }
  return best;
}

}  // namespace

template <typename Real>
void tile_pool(const TilePool<Real>& job) {
  for_each_window(job, [&](int64_t at, int64_t out, Window down, Window across) {
    maximum(job, at, down, across).store(job.y + out);
  });
}

template <typename Real>
void tile_pool_gradient(const TilePool<Real>& job) {
  using V = Vec<Real>;
  const int64_t pixel = job.channels * job.lanes;
  std::fill_n(job.dx, job.height * job.width * pixel, Real(0));
  for_each_window(job, [&](int64_t at, int64_t out, Window down, Window across) {
    const V best = maximum(job, at, down, across);
    V left = V::load(job.dy + out);  // what no pixel has received yet
    for (int64_t h = down.begin; h < down.end; ++h) {
      for (int64_t w = across.begin; w < across.end; ++w) {
        const int64_t place = (h * job.width + w) * pixel + at;
        const auto here = V::load(job.x + place) == best;
        (V::load(job.dx + place) + select(here, left, V(Real(0)))).store(job.dx + place);
        left = select(here, V(Real(0)), left);
      }
    }
  });
}

template void tile_pool(const TilePool<float>&);
template void tile_pool(const TilePool<double>&);
template void tile_pool_gradient(const TilePool<float>&);
template void tile_pool_gradient(const TilePool<double>&);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

#include "compute/cpu/kernels/functions.h"
#include "compute/cpu/kernels/vector_math.h"

// Sums, maxima and softmax: vectors of lanes for tiles, single values for shared tensors.
namespace agora::compute::cpu {
inline namespace AGORA_VECTORS {
namespace {

template <typename Real>
Real join(bool maximum, Real a, Real b) {
  return maximum ? (b > a || b != b ? b : a) : a + b;
}

template <typename Real>
Real along(const TileReduce<Real>& job, const Real* start) {
  constexpr int kLanes = Vec<Real>::kLanes;
  Real lane[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    lane[l] = job.maximum ? -std::numeric_limits<Real>::infinity() : Real(0);
  }
  for (int64_t k = 0; k < job.count; ++k) {
    lane[k % kLanes] = join(job.maximum, lane[k % kLanes], start[k]);
  }
  Real total = lane[0];
  for (int l = 1; l < kLanes; ++l) total = join(job.maximum, total, lane[l]);
  return total;
}

template <int kCount, typename Real>
void block(const TileReduce<Real>& job, const Real* start, Real* to) {
  using V = Vec<Real>;
  V total[kCount];
  for (int v = 0; v < kCount; ++v) total[v] = V::load(start + job.steps[0] + v * V::kLanes);
  for (int64_t j = 1; j < job.count; ++j) {
    for (int v = 0; v < kCount; ++v) {
      const V next = V::load(start + job.steps[j] + v * V::kLanes);
      total[v] =
          job.maximum ? select<Real>(next != next, next, max(next, total[v])) : total[v] + next;
    }
  }
  for (int v = 0; v < kCount; ++v) (total[v] * V(job.scale)).store(to + v * V::kLanes);
}

}  // namespace

template <typename Real>
void tile_reduce(const TileReduce<Real>& job) {
  for (int64_t p = 0; p < job.positions; ++p) {
    const Real* const start = job.from + job.starts[p];
    Real* const to = job.to + p * job.width;
    if (job.contiguous) {
      *to = along(job, start) * job.scale;
    } else if (job.width == 1) {
      Real total = start[job.steps[0]];
      for (int64_t j = 1; j < job.count; ++j) total = join(job.maximum, total, start[job.steps[j]]);
      *to = total * job.scale;
    } else {  // four registers at a time where there are as many
      constexpr int64_t kFour = 4 * Vec<Real>::kLanes;
      int64_t lane = 0;
      for (; lane + kFour <= job.width; lane += kFour) block<4>(job, start + lane, to + lane);
      for (; lane < job.width; lane += Vec<Real>::kLanes) block<1>(job, start + lane, to + lane);
    }
  }
}

template <typename Real>
void tile_softmax(const TileSoftmax<Real>& job) {
  using V = Vec<Real>;
  for (int64_t p = 0; p < job.positions; ++p) {
    const Real* const from = job.from + job.from_starts[p];
    Real* const to = job.to + job.to_starts[p];
    for (int64_t lane = 0; lane < job.width; lane += V::kLanes) {
      const int64_t count = job.width - lane < V::kLanes ? job.width - lane : V::kLanes;
      const auto load = [&](const Real* at) {
        return count == V::kLanes ? V::load(at) : V::load(at, count);
      };
      const auto store = [&](V value, Real* at) {
        count == V::kLanes ? value.store(at) : value.store(at, count);
      };
      V top = load(from + lane);
      for (int64_t j = 1; j < job.size; ++j) top = max(top, load(from + j * job.from_step + lane));
      V total(Real(0));
      for (int64_t j = 0; j < job.size; ++j) {
        const V shifted = load(from + j * job.from_step + lane) - top;
        const V power = exp(shifted);
        total += power;
        store(job.log ? shifted : power, to + j * job.to_step + lane);
      }
      const V last = job.log ? log(total) : V(Real(1)) / total;
      for (int64_t j = 0; j < job.size; ++j) {
        const V value = load(to + j * job.to_step + lane);
        store(job.log ? value - last : value * last, to + j * job.to_step + lane);
      }
    }
  }
}

template <typename Real>
void tile_sum_rows(const TileSumRows<Real>& job) {
  using V = Vec<Real>;
  for (int64_t p = 0; p < job.positions; ++p) {
    const Real* const row = job.x + job.starts[p];
    V total(Real(0));
    int64_t r = 0;
    for (; r + V::kLanes <= job.rows; r += V::kLanes) total += V::load(row + r);
    if (r < job.rows) total += V::load(row + r, job.rows - r);
    Real lanes[V::kLanes];
    total.store(lanes);
    Real sum = 0;
    for (const Real lane : lanes) sum += lane;
    job.y[p] += sum;
  }
}

template void tile_reduce(const TileReduce<float>&);
template void tile_reduce(const TileReduce<double>&);
template void tile_softmax(const TileSoftmax<float>&);
template void tile_softmax(const TileSoftmax<double>&);
template void tile_sum_rows(const TileSumRows<float>&);
template void tile_sum_rows(const TileSumRows<double>&);

}  // namespace AGORA_VECTORS
}  // namespace agora::compute::cpu

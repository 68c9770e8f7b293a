#pragma once
#include <cstdint>

#include "compute/plan.h"

namespace agora::compute::cpu {

// Where a view starts, in elements: features of row-local memory are `lanes` elements apart.
struct Place {
  Space space = Space::kScratch;
  int32_t variable = -1;
  int64_t offset = 0;
};

inline Place place_of(const Plan& plan, const View& view, int64_t lanes) {
  const Buffer& buffer = plan.buffers[static_cast<size_t>(view.buffer)];
  const int64_t width = view.rows ? lanes : 1;
  return {buffer.space, buffer.variable, (buffer.offset + view.offset) * width};
}

// The memory that a step sees while it works on one tile (or on the shared steps).
template <typename Real>
struct Context {
  Real* scratch = nullptr;
  Real* kept = nullptr;
  Real* shared = nullptr;
  Real* partial = nullptr;  // sums of this part, addressed like `shared`
  Real* const* current = nullptr;
  Real* const* next = nullptr;
  Real* workspace = nullptr;  // of kernels
  Real* registers = nullptr;  // of elementwise groups
  int64_t first_row = 0;
  int64_t rows = 0;               // of this tile; the other lanes repeat the last one
  int32_t* non_finite = nullptr;  // in checking mode: takes the first non-finite node

  Real* at(const Place& place) const {
    switch (place.space) {
      case Space::kScratch:
        return scratch + place.offset;
      case Space::kKept:
        return kept + place.offset;
      case Space::kShared:
        return shared + place.offset;
      case Space::kVariable:
        return current[place.variable] + place.offset;
      case Space::kNextVariable:
        return next[place.variable] + place.offset;
      case Space::kImage:
        break;  // the CPU asks for none
    }
    return nullptr;
  }
};

// All offsets of a strided tensor in row-major order.
std::vector<int64_t> offsets_of(const Shape& shape, const std::vector<int64_t>& strides,
                                int64_t scale);

}  // namespace agora::compute::cpu

#pragma once
#include <memory>

#include "compute/cpu/context.h"
#include "compute/cpu/elementwise.h"

namespace agora::compute::cpu {

// What the host holds: rows of inputs and outputs, in row-major order.
template <typename Real>
struct HostRows {
  Real* values = nullptr;
  const uint8_t* bytes = nullptr;  // instead of values, scaled
  Real scale = 1;
  const int32_t* chosen = nullptr;  // of the bytes, these rows one after the other
  int64_t chosen_count = 0;
};

// A step made ready for one number of lanes.
template <typename Real>
class Runnable {
 public:
  virtual ~Runnable() = default;
  virtual void run(const Context<Real>& context) const = 0;
  // A product that starts from what `start` writes into its output.
  virtual void run_from(const Group<Real>& start, const Context<Real>& context) const {
    start.run(context);
    run(context);
  }
  virtual int64_t workspace() const { return 0; }  // values it needs in Context::workspace
};

// The lanes of a view: those of the tile, or one value of the shared steps.
int64_t width_of(const View& view, int64_t lanes);
std::vector<int64_t> all_offsets(const View& view, int64_t lanes);

// Products and image operations; make_operation calls it for what it does not know.
template <typename Real>
std::unique_ptr<Runnable<Real>> make_product(const Plan& plan, const Step& step, int64_t lanes);

// Reflections with what is fused to them. In reflect.cpp.
template <typename Real>
std::unique_ptr<Runnable<Real>> make_reflect(const Plan& plan, const Step& step, int64_t lanes);

// Everything but groups, loops, loads and stores.
template <typename Real>
std::unique_ptr<Runnable<Real>> make_operation(const Plan& plan, const Step& step, int64_t lanes);

// Between row-major host memory of `features` values a row and a tile.
template <typename Real>
void load_rows(const HostRows<Real>& host, int64_t features, int64_t lanes,
               const Context<Real>& context, Real* tile);
template <typename Real>
void store_rows(const Real* tile, const std::vector<int64_t>& offsets, int64_t lanes,
                const Context<Real>& context, Real* host);

}  // namespace agora::compute::cpu

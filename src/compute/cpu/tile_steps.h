#pragma once
#include <memory>

#include "compute/cpu/context.h"

namespace agora::compute::cpu {

// What the host holds: rows of inputs and outputs, in row-major order.
template <typename Real>
struct HostRows {
  Real* values = nullptr;
  const uint8_t* bytes = nullptr;  // instead of values, scaled
  Real scale = 1;
};

// A step made ready for one number of lanes.
template <typename Real>
class Runnable {
 public:
  virtual ~Runnable() = default;
  virtual void run(const Context<Real>& context) const = 0;
  // Steps of the shared part may be cut into pieces that threads share.
  virtual int64_t pieces() const { return 1; }
  virtual void run_pieces(const Context<Real>& context, int64_t, int64_t) const { run(context); }
  virtual int64_t workspace() const { return 0; }  // values it needs in Context::workspace
};

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

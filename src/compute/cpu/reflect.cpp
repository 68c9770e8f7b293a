#include <cmath>

#include "compute/cpu/kernels.h"
#include "compute/cpu/tile_steps.h"

namespace agora::compute::cpu {
namespace {

template <typename Real>
ReflectFactors<Real> factors(int64_t size) {
  const double root = std::sqrt(static_cast<double>(size));
  return {static_cast<Real>(1 / root), size == 1 ? Real(0) : static_cast<Real>(1 / (root - 1))};
}

template <typename Real>
class Reflect final : public Runnable<Real> {
 public:
  Reflect(const Plan& plan, const Step& step, int64_t lanes)
      : x_(place_of(plan, step.inputs[0], lanes)),
        slope_(step.inputs.size() == 2),
        plain_(step.outputs[0].buffer >= 0),
        again_(step.outputs.size() == 2) {
    const View& x = step.inputs[0];
    if (slope_) tanh_output_ = place_of(plan, step.inputs[1], lanes);
    if (plain_) to_ = place_of(plan, step.outputs[0], lanes);
    if (again_) again_to_ = place_of(plan, step.outputs[1], lanes);
    Shape others = x.shape;
    for (const int64_t axis : step.ints) others[static_cast<size_t>(axis)] = 1;
    starts_ = offsets_of(others, x.strides, lanes);
    job_.positions = static_cast<int64_t>(starts_.size());
    job_.rows = step.ints.size() == 2 ? step.outputs[0].shape[size_t(step.ints[0])] : 1;
    job_.columns = step.outputs[0].shape[size_t(step.ints.back())];
    job_.step = x.strides[static_cast<size_t>(step.ints.back())] * lanes;
    job_.lanes = lanes;
    job_.of_rows = factors<Real>(job_.rows);
    job_.of_columns = factors<Real>(job_.columns);
    job_.tanh = step.activation == Op::kTanh;
  }

  void run(const Context<Real>& context) const override {
    TileReflect<Real> job = job_;
    job.x = context.at(x_);
    job.slope_of = slope_ ? context.at(tanh_output_) : nullptr;
    job.to = plain_ ? context.at(to_) : nullptr;
    job.again = again_ ? context.at(again_to_) : nullptr;
    job.starts = starts_.data();
    job.workspace = context.workspace;
    kernels_.reflect(job);
  }
  int64_t workspace() const override { return job_.rows * job_.columns * kLaneStep; }

 private:
  const Kernels<Real>& kernels_ = kernels<Real>();
  Place x_, tanh_output_, to_, again_to_;
  bool slope_, plain_, again_;
  std::vector<int64_t> starts_;
  TileReflect<Real> job_{};
};

}  // namespace

template <typename Real>
std::unique_ptr<Runnable<Real>> make_reflect(const Plan& plan, const Step& step, int64_t lanes) {
  return std::make_unique<Reflect<Real>>(plan, step, lanes);
}

template std::unique_ptr<Runnable<float>> make_reflect(const Plan&, const Step&, int64_t);
template std::unique_ptr<Runnable<double>> make_reflect(const Plan&, const Step&, int64_t);

}  // namespace agora::compute::cpu

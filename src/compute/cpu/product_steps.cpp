#include "base/error.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/tile_steps.h"

// Matrix products, weight gradients and image operations: what the kernels do on one tile, for
// every position of the outer axes.
namespace agora::compute::cpu {
namespace {

// Offsets of all but the last axis.
std::vector<int64_t> outer_offsets(const View& view, int64_t lanes) {
  return offsets_of(Shape(view.shape.begin(), view.shape.end() - 1),
                    std::vector<int64_t>(view.strides.begin(), view.strides.end() - 1),
                    width_of(view, lanes));
}

int64_t last_stride(const View& view, int64_t lanes) {
  return view.shape.back() == 1 ? lanes : view.strides.back() * lanes;
}

Activation activation_of(Op op) {
  switch (op) {
    case Op::kTanh:
      return Activation::kTanh;
    case Op::kRelu:
      return Activation::kRelu;
    case Op::kSigmoid:
      return Activation::kSigmoid;
    case Op::kSoftplus:
      return Activation::kSoftplus;
    default:
      return Activation::kNone;
  }
}

// Inputs, unlike what is made of them, are often zero in most places: pictures, maps, one of many.
bool is_input(const Plan& plan, const View& view) {
  for (const Phase& phase : plan.phases) {
    for (const Step& step : phase.rows) {
      if (step.kind == StepKind::kLoadRows && step.outputs[0].buffer == view.buffer) return true;
    }
  }
  return false;
}

template <typename Real>
class Matmul final : public Runnable<Real> {
 public:
  Matmul(const Plan& plan, const Step& step, int64_t lanes)
      : x_(place_of(plan, step.inputs[0], lanes)),
        w_(place_of(plan, step.inputs[1], lanes)),
        y_(place_of(plan, step.outputs[0], lanes)),
        has_bias_(step.bias),
        x_outer_(outer_offsets(step.inputs[0], lanes)),
        y_outer_(outer_offsets(step.outputs[0], lanes)) {
    if (has_bias_) bias_ = place_of(plan, step.inputs[2], lanes);
    const View &x = step.inputs[0], &w = step.inputs[1];
    job_.x_stride = last_stride(x, lanes);
    job_.w_in = w.strides[0];
    job_.w_out = w.strides[1];
    job_.y_stride = lanes;
    job_.in = w.shape[0];
    job_.out = w.shape[1];
    job_.lanes = lanes;
    job_.activation = activation_of(step.activation);
    job_.accumulate = step.accumulate;
    looks_for_zeros_ = is_input(plan, x);
  }
  int64_t workspace() const override { return looks_for_zeros_ ? job_.in : 0; }
  void run(const Context<Real>& context) const override { run_all(nullptr, context); }
  // Position by position, so that the start is still in L1.
  void run_from(const Group<Real>& start, const Context<Real>& context) const override {
    const int64_t positions = static_cast<int64_t>(x_outer_.size());
    const bool aligned =
        start.features() == job_.out && start.chunks() == positions * start.feature_chunks();
    if (!aligned) start.run(context);
    run_all(aligned ? &start : nullptr, context);
  }

 private:
  void run_all(const Group<Real>* start, const Context<Real>& context) const {
    TileMatmul<Real> job = job_;
    const Real* const x = context.at(x_);
    Real* const y = context.at(y_);
    job.w = context.at(w_);
    job.bias = has_bias_ ? context.at(bias_) : nullptr;
    if (looks_for_zeros_) job.chosen = reinterpret_cast<int32_t*>(context.workspace);
    for (size_t k = 0; k < x_outer_.size(); ++k) {
      if (start != nullptr) {
        const int64_t position = static_cast<int64_t>(k);
        const int64_t chunks = start->feature_chunks();
        start->run(context, position * chunks, (position + 1) * chunks);
      }
      job.x = x + x_outer_[k];
      job.y = y + y_outer_[k];
      kernels_.matmul(job);
    }
  }

  const Kernels<Real>& kernels_ = kernels<Real>();
  Place x_, w_, bias_, y_;
  bool has_bias_, looks_for_zeros_ = false;
  std::vector<int64_t> x_outer_, y_outer_;
  TileMatmul<Real> job_{};
};

template <typename Real>
class SharedMatmul final : public Runnable<Real> {
 public:
  SharedMatmul(const Plan& plan, const Step& step)
      : x_(place_of(plan, step.inputs[0], 1)),
        w_(place_of(plan, step.inputs[1], 1)),
        y_(place_of(plan, step.outputs[0], 1)),
        x_step_(step.inputs[0].strides.back()),
        w_strides_(step.inputs[1].strides),
        w_shape_(step.inputs[1].shape),
        outer_(outer_offsets(step.inputs[0], 1)) {}
  void run(const Context<Real>& context) const override {
    const Real *const x = context.at(x_), *const w = context.at(w_);
    Real* y = context.at(y_);
    for (const int64_t start : outer_) {
      std::fill_n(y, w_shape_[1], Real(0));
      for (int64_t k = 0; k < w_shape_[0]; ++k) {
        const Real factor = x[start + k * x_step_];
        for (int64_t o = 0; o < w_shape_[1]; ++o) {
          y[o] += factor * w[k * w_strides_[0] + o * w_strides_[1]];
        }
      }
      y += w_shape_[1];
    }
  }

 private:
  Place x_, w_, y_;
  int64_t x_step_;
  std::vector<int64_t> w_strides_;
  Shape w_shape_;
  std::vector<int64_t> outer_;
};

template <typename Real>
class Outer final : public Runnable<Real> {
 public:
  Outer(const Plan& plan, const Step& step, int64_t lanes)
      : x_(place_of(plan, step.inputs[0], lanes)),
        dy_(place_of(plan, step.inputs[1], lanes)),
        dw_(place_of(plan, step.outputs[0], lanes)),
        x_outer_(outer_offsets(step.inputs[0], lanes)),
        dy_outer_(outer_offsets(step.inputs[1], lanes)) {
    job_.x_stride = last_stride(step.inputs[0], lanes);
    job_.dy_stride = last_stride(step.inputs[1], lanes);
    job_.in = step.inputs[0].shape.back();
    job_.out = step.inputs[1].shape.back();
    job_.lanes = lanes;
    looks_for_zeros_ = is_input(plan, step.inputs[0]);
  }
  void run(const Context<Real>& context) const override {
    TileOuter<Real> job = job_;
    const Real *const x = context.at(x_), *const dy = context.at(dy_);
    job.dw = context.partial + dw_.offset;
    job.rows = context.rows;
    job.scratch = context.workspace;
    if (looks_for_zeros_) {
      job.chosen = reinterpret_cast<int32_t*>(context.workspace + transposed());
    }
    for (size_t k = 0; k < x_outer_.size(); ++k) {
      job.x = x + x_outer_[k];
      job.dy = dy + dy_outer_[k];
      kernels_.outer(job);
    }
  }
  int64_t workspace() const override { return transposed() + (looks_for_zeros_ ? job_.in : 0); }

 private:
  int64_t transposed() const { return job_.out * job_.lanes + 64; }

  const Kernels<Real>& kernels_ = kernels<Real>();
  bool looks_for_zeros_ = false;
  Place x_, dy_, dw_;
  std::vector<int64_t> x_outer_, dy_outer_;
  TileOuter<Real> job_{};
};

template <typename Real>
class Image final : public Runnable<Real> {
 public:
  Image(const Plan& plan, const Step& step, int64_t lanes)
      : op_(step.op),
        lanes_(lanes),
        a_(place_of(plan, step.inputs[0], lanes)),
        y_(place_of(plan, step.outputs[0], lanes)),
        a_shape_(step.inputs[0].shape) {
    if (step.inputs.size() > 1) {
      b_ = place_of(plan, step.inputs[1], lanes);
      b_shape_ = step.inputs[1].shape;
    }
  }
  void run(const Context<Real>& context) const override {
    const Real* const a = context.at(a_);
    const Real* const b = b_shape_.empty() ? nullptr : context.at(b_);
    const int64_t height = a_shape_[0], width = a_shape_[1], channels = a_shape_[2];
    switch (op_) {
      case Op::kConv:
        kernels_.conv3x3(
            {a, b, nullptr, context.at(y_), height, width, channels, b_shape_[3], lanes_});
        return;
      case Op::kConvInput:
        kernels_.conv3x3_input(
            {a, b, context.at(y_), height, width, b_shape_[2], channels, lanes_});
        return;
      case Op::kConvWeight:
        kernels_.conv3x3_weight({a, b, context.partial + y_.offset, height, width, channels,
                                 b_shape_[2], lanes_, context.rows, context.workspace});
        return;
      case Op::kPool:
        kernels_.pool({a, context.at(y_), nullptr, nullptr, height, width, channels, lanes_});
        return;
      default:
        kernels_.pool_gradient({a, nullptr, b, context.at(y_), height, width, channels, lanes_});
    }
  }
  int64_t workspace() const override {
    return op_ == Op::kConvWeight ? a_shape_[1] * b_shape_[2] * lanes_ + 64 : 0;
  }

 private:
  const Kernels<Real>& kernels_ = kernels<Real>();
  Op op_;
  int64_t lanes_;
  Place a_, b_, y_;
  Shape a_shape_, b_shape_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Runnable<Real>> make_product(const Plan& plan, const Step& step, int64_t lanes) {
  switch (step.op) {
    case Op::kMatmul:
      if (!step.outputs[0].rows) return std::make_unique<SharedMatmul<Real>>(plan, step);
      return std::make_unique<Matmul<Real>>(plan, step, lanes);
    case Op::kOuter:
      return std::make_unique<Outer<Real>>(plan, step, lanes);
    case Op::kConv:
    case Op::kConvInput:
    case Op::kConvWeight:
    case Op::kPool:
    case Op::kPoolGradient:
      return std::make_unique<Image<Real>>(plan, step, lanes);
    default:
      CHECK(false, "{} has no step on the CPU", op_name(step.op));
  }
}

template std::unique_ptr<Runnable<float>> make_product(const Plan&, const Step&, int64_t);
template std::unique_ptr<Runnable<double>> make_product(const Plan&, const Step&, int64_t);

}  // namespace agora::compute::cpu

#include "compute/cpu/tile_steps.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "compute/cpu/kernels.h"

namespace agora::compute::cpu {

std::vector<int64_t> offsets_of(const Shape& shape, const std::vector<int64_t>& strides,
                                int64_t scale) {
  std::vector<int64_t> offsets{0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> finer;
    finer.reserve(offsets.size() * static_cast<size_t>(shape[axis]));
    for (const int64_t offset : offsets) {
      for (int64_t k = 0; k < shape[axis]; ++k) finer.push_back(offset + k * strides[axis] * scale);
    }
    offsets = std::move(finer);
  }
  return offsets;
}

int64_t width_of(const View& view, int64_t lanes) { return view.rows ? lanes : 1; }

std::vector<int64_t> all_offsets(const View& view, int64_t lanes) {
  return offsets_of(view.shape, view.strides, width_of(view, lanes));
}

namespace {

template <typename Real>
class Copy final : public Runnable<Real> {
 public:
  Copy(const Plan& plan, const Step& step, int64_t lanes)
      : to_(place_of(plan, step.outputs[0], lanes)),
        to_offsets_(all_offsets(step.outputs[0], lanes)),
        width_(width_of(step.outputs[0], lanes)) {
    fill_ = step.inputs.empty() || step.inputs[0].uniform;
    if (fill_) {
      value_ = step.inputs.empty() ? Real(0) : static_cast<Real>(step.inputs[0].value);
      return;
    }
    from_ = place_of(plan, step.inputs[0], lanes);
    splat_ = !step.inputs[0].rows;
    from_offsets_ = all_offsets(step.inputs[0], lanes);
  }
  void run(const Context<Real>& context) const override {
    Real* const to = context.at(to_);
    const Real* const from = fill_ ? nullptr : context.at(from_);
    for (size_t k = 0; k < to_offsets_.size(); ++k) {
      Real* const target = to + to_offsets_[k];
      if (fill_) {
        std::fill_n(target, width_, value_);
      } else if (splat_) {
        std::fill_n(target, width_, from[from_offsets_[k]]);
      } else {
        std::copy_n(from + from_offsets_[k], width_, target);
      }
    }
  }

 private:
  Place to_, from_;
  std::vector<int64_t> to_offsets_, from_offsets_;
  int64_t width_;
  bool fill_, splat_ = false;
  Real value_ = 0;
};

// Sums and maxima along axes.
template <typename Real>
class Reduce final : public Runnable<Real> {
 public:
  Reduce(const Plan& plan, const Step& step, int64_t lanes)
      : from_(place_of(plan, step.inputs[0], lanes)), to_(place_of(plan, step.outputs[0], lanes)) {
    const View& x = step.inputs[0];
    Shape kept = x.shape, reduced(x.shape.size(), 1);
    for (const int64_t axis : step.ints) {
      std::swap(kept[static_cast<size_t>(axis)], reduced[static_cast<size_t>(axis)]);
    }
    job_.width = width_of(step.outputs[0], lanes);
    starts_ = offsets_of(kept, x.strides, job_.width);
    steps_ = offsets_of(reduced, x.strides, job_.width);
    job_.positions = static_cast<int64_t>(starts_.size());
    job_.count = static_cast<int64_t>(steps_.size());
    job_.scale = static_cast<Real>(step.scale);
    job_.maximum = step.op == Op::kMaximum;
    job_.contiguous = job_.width == 1;
    for (size_t k = 0; k < steps_.size(); ++k) {
      job_.contiguous = job_.contiguous && steps_[k] == static_cast<int64_t>(k);
    }
    if (job_.contiguous) steps_.resize(1);
  }
  void run(const Context<Real>& context) const override {
    TileReduce<Real> job = job_;
    job.from = context.at(from_);
    job.to = context.at(to_);
    job.starts = starts_.data();
    job.steps = steps_.data();
    kernels_.reduce(job);
  }

 private:
  const Kernels<Real>& kernels_ = kernels<Real>();
  Place from_, to_;
  std::vector<int64_t> starts_, steps_;
  TileReduce<Real> job_{};
};

template <typename Real>
class Softmax final : public Runnable<Real> {
 public:
  Softmax(const Plan& plan, const Step& step, int64_t lanes)
      : from_(place_of(plan, step.inputs[0], lanes)), to_(place_of(plan, step.outputs[0], lanes)) {
    const size_t axis = static_cast<size_t>(step.ints[0]);
    const View &x = step.inputs[0], &y = step.outputs[0];
    Shape kept = x.shape;
    kept[axis] = 1;
    job_.width = width_of(y, lanes);
    from_starts_ = offsets_of(kept, x.strides, job_.width);
    to_starts_ = offsets_of(kept, y.strides, job_.width);
    job_.positions = static_cast<int64_t>(from_starts_.size());
    job_.size = x.shape[axis];
    job_.from_step = x.strides[axis] * job_.width;
    job_.to_step = y.strides[axis] * job_.width;
    job_.log = step.op == Op::kLogSoftmax;
  }
  void run(const Context<Real>& context) const override {
    TileSoftmax<Real> job = job_;
    job.from = context.at(from_);
    job.to = context.at(to_);
    job.from_starts = from_starts_.data();
    job.to_starts = to_starts_.data();
    kernels_.softmax(job);
  }

 private:
  const Kernels<Real>& kernels_ = kernels<Real>();
  Place from_, to_;
  std::vector<int64_t> from_starts_, to_starts_;
  TileSoftmax<Real> job_{};
};

template <typename Real>
class SumRows final : public Runnable<Real> {
 public:
  SumRows(const Plan& plan, const Step& step, int64_t lanes)
      : x_(place_of(plan, step.inputs[0], lanes)),
        y_(place_of(plan, step.outputs[0], lanes)),
        offsets_(all_offsets(step.inputs[0], lanes)) {}
  void run(const Context<Real>& context) const override {
    kernels_.sum_rows({context.at(x_), context.partial + y_.offset, offsets_.data(),
                       static_cast<int64_t>(offsets_.size()), context.rows});
  }

 private:
  const Kernels<Real>& kernels_ = kernels<Real>();
  Place x_, y_;
  std::vector<int64_t> offsets_;
};

// Rows of a shared table by index, one-hot rows, and the sums that are their gradients.
template <typename Real>
class Indexed final : public Runnable<Real> {
 public:
  Indexed(const Plan& plan, const Step& step, int64_t lanes) : op_(step.op), lanes_(lanes) {
    const bool scatter = op_ == Op::kScatter;
    const View& index = step.inputs[op_ == Op::kOneHot ? 0 : 1];
    index_ = place_of(plan, index, lanes);
    count_ = index.count();
    y_ = place_of(plan, step.outputs[0], lanes);
    if (op_ != Op::kOneHot) x_ = place_of(plan, step.inputs[0], lanes);
    const View& table = scatter ? step.outputs[0] : step.inputs[0];
    depth_ = op_ == Op::kOneHot ? step.outputs[0].shape.back() : table.shape[0];
    size_ = op_ == Op::kOneHot ? depth_ : table.count() / depth_;
    node_ = step.node;
  }
  void run(const Context<Real>& context) const override {
    const Real* const index = context.at(index_);
    for (int64_t k = 0; k < count_; ++k) {
      for (int64_t r = 0; r < lanes_; ++r) {
        const int64_t row = static_cast<int64_t>(index[k * lanes_ + r]);
        if (!(index[k * lanes_ + r] >= 0) || row >= depth_) {
          throw user_error("{}: index {} is outside [0, {})", op_name(op_), index[k * lanes_ + r],
                           depth_);
        }
        one(context, k, r, row);
      }
    }
  }

 private:
  void one(const Context<Real>& context, int64_t k, int64_t r, int64_t row) const {
    if (op_ == Op::kOneHot) {
      Real* const y = context.at(y_) + k * depth_ * lanes_ + r;
      for (int64_t j = 0; j < depth_; ++j) y[j * lanes_] = j == row ? Real(1) : Real(0);
    } else if (op_ == Op::kGather) {
      const Real* const table = context.at(x_) + row * size_;
      Real* const y = context.at(y_) + k * size_ * lanes_ + r;
      for (int64_t j = 0; j < size_; ++j) y[j * lanes_] = table[j];
    } else if (r < context.rows) {
      const Real* const values = context.at(x_) + k * size_ * lanes_ + r;
      Real* const table = context.partial + y_.offset + row * size_;
      for (int64_t j = 0; j < size_; ++j) table[j] += values[j * lanes_];
    }
  }

  Op op_;
  int64_t lanes_, count_ = 0, depth_ = 0, size_ = 0;
  int32_t node_ = -1;
  Place index_, x_, y_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Runnable<Real>> make_operation(const Plan& plan, const Step& step, int64_t lanes) {
  switch (step.op) {
    case Op::kReshape:
    case Op::kConstant:
      return std::make_unique<Copy<Real>>(plan, step, lanes);
    case Op::kSum:
    case Op::kMaximum:
      return std::make_unique<Reduce<Real>>(plan, step, lanes);
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return std::make_unique<Softmax<Real>>(plan, step, lanes);
    case Op::kReflect:
      return make_reflect<Real>(plan, step, lanes);
    case Op::kSumRows:
      return std::make_unique<SumRows<Real>>(plan, step, lanes);
    case Op::kGather:
    case Op::kScatter:
    case Op::kOneHot:
      return std::make_unique<Indexed<Real>>(plan, step, lanes);
    default:
      return make_product<Real>(plan, step, lanes);
  }
}

// Rows that follow, from here and there, are brought near while this tile is worked on: the
// beginning of each, since what follows on it is found by hardware.
template <typename Real>
void prefetch(const HostRows<Real>& host, int64_t features, int64_t first, int64_t count) {
  constexpr int64_t kLine = 64, kMost = 1024;
  for (int64_t row = first; row < std::min(first + count, host.chosen_count); ++row) {
    const uint8_t* const bytes = host.bytes + host.chosen[row] * features;
    for (int64_t at = 0; at < std::min(features, kMost); at += kLine) {
      __builtin_prefetch(bytes + at, 0, 2);
    }
  }
}

template <typename Real>
void load_rows(const HostRows<Real>& host, int64_t features, int64_t lanes,
               const Context<Real>& context, Real* tile) {
  const int64_t begin = context.first_row * features;
  if (host.bytes != nullptr) {
    // Widened in pieces that stay in the cache, then turned round as numbers are.
    constexpr int64_t kHeight = 16, kWidth = 256;
    std::array<Real, kHeight * kWidth> piece;
    if (host.chosen != nullptr) prefetch(host, features, context.first_row + context.rows, lanes);
    for (int64_t r = 0; r < context.rows; r += kHeight) {
      const int64_t height = std::min(kHeight, context.rows - r);
      for (int64_t f = 0; f < features; f += kWidth) {
        const int64_t width = std::min(kWidth, features - f);
        for (int64_t i = 0; i < height; ++i) {
          const int64_t at = context.first_row + r + i;
          const uint8_t* const row =
              host.bytes + (host.chosen ? host.chosen[at] : at) * features + f;
          Real* const wide = piece.data() + i * kWidth;
          for (int64_t j = 0; j < width; ++j) wide[j] = static_cast<Real>(row[j]) * host.scale;
        }
        kernels<Real>().transpose(height, width, piece.data(), kWidth, tile + f * lanes + r, lanes);
      }
    }
  } else {
    kernels<Real>().transpose(context.rows, features, host.values + begin, features, tile, lanes);
  }
  if (context.rows == lanes) return;
  for (int64_t f = 0; f < features; ++f) {
    Real* const feature = tile + f * lanes;
    std::fill(feature + context.rows, feature + lanes, feature[context.rows - 1]);
  }
}

template <typename Real>
void store_rows(const Real* tile, const std::vector<int64_t>& offsets, int64_t lanes,
                const Context<Real>& context, Real* host) {
  const size_t features = offsets.size();
  for (size_t f = 0, end = 0; f < features; f = end) {  // features that lie side by side
    for (end = f + 1; end < features && offsets[end] == offsets[end - 1] + lanes;) ++end;
    const auto count = static_cast<int64_t>(end - f), all = static_cast<int64_t>(features);
    kernels<Real>().transpose(count, context.rows, tile + offsets[f], lanes,
                              host + context.first_row * all + static_cast<int64_t>(f), all);
  }
}

template std::unique_ptr<Runnable<float>> make_operation(const Plan&, const Step&, int64_t);
template std::unique_ptr<Runnable<double>> make_operation(const Plan&, const Step&, int64_t);
template void load_rows(const HostRows<float>&, int64_t, int64_t, const Context<float>&, float*);
template void load_rows(const HostRows<double>&, int64_t, int64_t, const Context<double>&, double*);
template void store_rows(const float*, const std::vector<int64_t>&, int64_t, const Context<float>&,
                         float*);
template void store_rows(const double*, const std::vector<int64_t>&, int64_t,
                         const Context<double>&, double*);

}  // namespace agora::compute::cpu

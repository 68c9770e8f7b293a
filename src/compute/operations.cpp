#include "compute/operations.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "compute/operation.h"

namespace agora::compute {
namespace {

int64_t checked_axis(const char* operation, Tensor x, int64_t axis) {
  const int64_t at = axis < 0 ? axis + x.rank() : axis;
  if (at < 0 || at >= x.rank()) {
    throw user_error("{}: axis {} does not exist in shape {}", operation, axis,
                     to_string(x.shape()));
  }
  return at;
}

int64_t checked_feature_axis(const char* operation, Tensor x, int64_t axis) {
  const int64_t at = checked_axis(operation, x, axis);
  if (x.row_local() && at == 0) {
    throw user_error("{}: the row axis of shape {} cannot be used here", operation,
                     to_string(x.shape()));
  }
  return at;
}

UserError mismatch(const char* operation, const Shape& a, const Shape& b, const char* why) {
  return user_error("{}: shapes {} and {} {}", operation, to_string(a), to_string(b), why);
}

Tensor unary(Op op, Tensor x) { return record(op, {x}); }
Tensor binary(Op op, Tensor a, Tensor b) { return record(op, {a, b}); }

Tensor scalar(Tensor like, double value) { return like.graph->constant(value); }

}  // namespace

Tensor operator+(Tensor a, Tensor b) { return binary(Op::kAdd, a, b); }
Tensor operator-(Tensor a, Tensor b) { return binary(Op::kSub, a, b); }
Tensor operator*(Tensor a, Tensor b) { return binary(Op::kMul, a, b); }
Tensor operator/(Tensor a, Tensor b) { return binary(Op::kDiv, a, b); }
Tensor operator+(Tensor a, double b) { return a + scalar(a, b); }
Tensor operator-(Tensor a, double b) { return a - scalar(a, b); }
Tensor operator*(Tensor a, double b) { return a * scalar(a, b); }
Tensor operator/(Tensor a, double b) { return a / scalar(a, b); }
Tensor operator+(double a, Tensor b) { return scalar(b, a) + b; }
Tensor operator-(double a, Tensor b) { return scalar(b, a) - b; }
Tensor operator*(double a, Tensor b) { return scalar(b, a) * b; }
Tensor operator/(double a, Tensor b) { return scalar(b, a) / b; }
Tensor operator-(Tensor a) { return unary(Op::kNeg, a); }

Tensor minimum(Tensor a, Tensor b) { return binary(Op::kMin, a, b); }
Tensor maximum(Tensor a, Tensor b) { return binary(Op::kMax, a, b); }
Tensor minimum(Tensor a, double b) { return minimum(a, scalar(a, b)); }
Tensor maximum(Tensor a, double b) { return maximum(a, scalar(a, b)); }
Tensor clip(Tensor x, double low, double high) {
  if (!(low <= high)) throw user_error("clip: low {} is above high {}", low, high);
  return minimum(maximum(x, low), high);
}
Tensor greater(Tensor a, Tensor b) { return binary(Op::kGreater, a, b); }
Tensor greater_equal(Tensor a, Tensor b) { return binary(Op::kGreaterEqual, a, b); }
Tensor equal(Tensor a, Tensor b) { return binary(Op::kEqual, a, b); }

Tensor where(Tensor condition, Tensor a, Tensor b) { return record(Op::kWhere, {condition, a, b}); }

Tensor exp(Tensor x) { return unary(Op::kExp, x); }
Tensor log(Tensor x) { return unary(Op::kLog, x); }
Tensor sqrt(Tensor x) { return unary(Op::kSqrt, x); }
Tensor square(Tensor x) { return unary(Op::kSquare, x); }
Tensor abs(Tensor x) { return unary(Op::kAbs, x); }
Tensor tanh(Tensor x) { return unary(Op::kTanh, x); }
Tensor sigmoid(Tensor x) { return unary(Op::kSigmoid, x); }
Tensor softplus(Tensor x) { return unary(Op::kSoftplus, x); }
Tensor relu(Tensor x) { return unary(Op::kRelu, x); }

Tensor softmax(Tensor x, int64_t axis) {
  return record(Op::kSoftmax, {x}, {checked_feature_axis("softmax", x, axis)});
}

Tensor log_softmax(Tensor x, int64_t axis) {
  return record(Op::kLogSoftmax, {x}, {checked_feature_axis("log_softmax", x, axis)});
}

namespace {

struct Axes {
  std::vector<int64_t> features;  // sorted, without repetition
  bool rows = false;
};

Axes checked_axes(const char* operation, Tensor x, const std::vector<int64_t>& axes) {
  Axes result;
  for (const int64_t axis : axes) {
    const int64_t at = checked_axis(operation, x, axis);
    if (x.row_local() && at == 0) {
      result.rows = true;
    } else {
      result.features.push_back(at);
    }
  }
  std::sort(result.features.begin(), result.features.end());
  if (std::adjacent_find(result.features.begin(), result.features.end()) != result.features.end()) {
    throw user_error("{}: an axis of [{}] is named twice", operation, fmt::join(axes, ", "));
  }
  return result;
}

// Reduces feature axes, keeping them with size 1.
Tensor reduce_features(Op op, Tensor x, const std::vector<int64_t>& axes) {
  return axes.empty() ? x : record(op, {x}, axes);
}

Tensor drop_axes(Tensor x, const Axes& axes, Keep keep, bool was_row_local) {
  if (keep == Keep::kYes) {
    if (!axes.rows) return x;
    Shape shape = x.shape();
    shape.insert(shape.begin(), 1);
    return reshape(x, shape);
  }
  const int64_t shift = was_row_local && axes.rows ? 1 : 0;  // the row axis is gone already
  Shape shape;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const bool dropped =
        std::binary_search(axes.features.begin(), axes.features.end(), axis + shift);
    if (!dropped) shape.push_back(x.shape()[static_cast<size_t>(axis)]);
  }
  return reshape(x, shape);
}

std::vector<int64_t> all_axes(Tensor x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

Tensor sum(Tensor x, const std::vector<int64_t>& axes, Keep keep) {
  const Axes at = checked_axes("sum", x, axes);
  Tensor result = reduce_features(Op::kSum, x, at.features);
  if (at.rows) result = record(Op::kSumRows, {result});
  return drop_axes(result, at, keep, x.row_local());
}

Tensor mean(Tensor x, const std::vector<int64_t>& axes, Keep keep) {
  const Axes at = checked_axes("mean", x, axes);
  double count = 1;
  for (const int64_t axis : at.features) count *= static_cast<double>(x.size(axis));
  Tensor result = sum(x, axes, keep);
  if (count > 1) result = result * (1.0 / count);
  return at.rows ? result * x.graph->inverse_rows() : result;
}

Tensor max(Tensor x, const std::vector<int64_t>& axes, Keep keep) {
  const Axes at = checked_axes("max", x, axes);
  if (at.rows) {
    throw user_error("max: the row axis of shape {} cannot be reduced", to_string(x.shape()));
  }
  return drop_axes(reduce_features(Op::kMaximum, x, at.features), at, keep, x.row_local());
}

Tensor sum(Tensor x) { return sum(x, all_axes(x)); }
Tensor mean(Tensor x) { return mean(x, all_axes(x)); }

Tensor reflect(Tensor x, const std::vector<int64_t>& axes) {
  Axes at = checked_axes("reflect", x, axes);
  if (at.rows) at.features.insert(at.features.begin(), 0);
  return record(Op::kReflect, {x}, at.features);
}

Tensor broadcast(Tensor x, const Shape& shape) {
  return x.shape() == shape ? x : record(Op::kBroadcast, {x}, {}, shape);
}

Tensor reshape(Tensor x, const Shape& shape) {
  return x.shape() == shape ? x : record(Op::kReshape, {x}, {}, shape);
}

Tensor flatten(Tensor x) {
  if (!x.row_local()) return reshape(x, {feature_count(x.shape())});
  return reshape(x, {kRows, feature_count(x.shape())});
}

Tensor transpose(Tensor x, const std::vector<int64_t>& axes) {
  std::vector<int64_t> order;
  for (const int64_t axis : axes) order.push_back(checked_axis("transpose", x, axis));
  return record(Op::kTranspose, {x}, order);
}

Tensor transpose(Tensor x) {
  if (feature_shape(x.shape()).size() < 2) {
    throw user_error("transpose: shape {} has fewer than two feature axes", to_string(x.shape()));
  }
  std::vector<int64_t> order = all_axes(x);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

Tensor slice(Tensor x, int64_t axis, int64_t begin, int64_t end) {
  return record(Op::kSlice, {x}, {checked_feature_axis("slice", x, axis), begin, end});
}

Tensor concat(const Tensors& parts, int64_t axis) {
  if (parts.empty()) throw user_error("concat: no tensors");
  if (parts.size() == 1) return parts[0];
  bool rows = false;
  for (const Tensor part : parts) rows = rows || part.row_local();
  const int64_t first_axis = checked_feature_axis("concat", parts[0], axis);
  const int64_t from_end = parts[0].rank() - first_axis;
  Tensors pieces;
  for (const Tensor part : parts) {
    Shape shape = part.shape();
    if (rows && !part.row_local()) shape.insert(shape.begin(), kRows);
    pieces.push_back(broadcast(part, shape));
  }
  return record(Op::kConcat, pieces, {pieces[0].rank() - from_end});
}

Tensor stack(const Tensors& parts, int64_t axis) {
  Tensors expanded;
  for (const Tensor part : parts) {
    const int64_t at = axis < 0 ? axis + part.rank() + 1 : axis;
    if (at < (part.row_local() ? 1 : 0) || at > part.rank()) {
      throw user_error("stack: axis {} does not fit shape {}", axis, to_string(part.shape()));
    }
    Shape shape = part.shape();
    shape.insert(shape.begin() + at, 1);
    expanded.push_back(reshape(part, shape));
  }
  if (expanded.empty()) throw user_error("stack: no tensors");
  return concat(expanded, axis);
}

Tensor pad(Tensor x, int64_t axis, int64_t before, int64_t after) {
  const int64_t at = checked_feature_axis("pad", x, axis);
  return before == 0 && after == 0 ? x : record(Op::kPad, {x}, {at, before, after});
}

Tensor gather(Tensor table, Tensor index) { return record(Op::kGather, {table, index}); }

Tensor one_hot(Tensor index, int64_t depth) { return record(Op::kOneHot, {index}, {depth}); }

Tensor stop_gradient(Tensor x) { return unary(Op::kStopGradient, x); }

Tensor matmul(Tensor x, Tensor w) {
  if (w.row_local() &&
      !feature_shape(x.shape())
           .empty()) {  // a product for each row: (rows, ..., a, b) x (rows, ..., b, c)
    const Shape fx = feature_shape(x.shape()), fw = feature_shape(w.shape());
    if (fx.size() < 2 || fw.size() < 2 || fx.back() != fw[fw.size() - 2]) {
      throw mismatch("matmul", x.shape(), w.shape(), "have different inner sizes");
    }
    Shape left = x.shape(), right = w.shape();
    left.push_back(1);                 // (..., a, b, 1)
    right.insert(right.end() - 2, 1);  // (..., 1, b, c)
    return sum(reshape(x, left) * reshape(w, right), {-2});
  }
  return record(Op::kMatmul, {x, w});
}

Tensor matmul(Tensor x, Tensor w, Tensor b) { return matmul(x, w) + b; }

Tensor matmul_by_block(Tensor x, const std::array<Tensor, 4>& w, Tensor bias) {
  Tensors inputs{x, w[0], w[1], w[2], w[3]};
  if (bias.graph != nullptr) inputs.push_back(bias);
  return record(Op::kBlockMatmul, inputs);
}

Tensor conv3x3(Tensor x, Tensor w) { return record(Op::kConv, {x, w}); }
Tensor max_pool(Tensor x) { return record(Op::kPool, {x}); }

Tensor categorical_log_prob(Tensor logits, Tensor index) {
  if (feature_shape(logits.shape()).empty()) {
    throw mismatch("categorical_log_prob", logits.shape(), index.shape(), "need a class axis");
  }
  Shape classes = logits.shape();
  classes.pop_back();
  if (!(classes == index.shape())) {
    throw mismatch("categorical_log_prob", logits.shape(), index.shape(),
                   "do not match: one index per distribution");
  }
  return sum(log_softmax(logits, -1) * one_hot(index, logits.size(-1)), {-1});
}

Tensor categorical_entropy(Tensor logits) {
  return -sum(softmax(logits, -1) * log_softmax(logits, -1), {-1});
}

Tensor categorical_kl(Tensor logits_p, Tensor logits_q) {
  if (logits_p.shape() != logits_q.shape()) {
    throw mismatch("categorical_kl", logits_p.shape(), logits_q.shape(), "differ");
  }
  return sum(softmax(logits_p, -1) * (log_softmax(logits_p, -1) - log_softmax(logits_q, -1)), {-1});
}

Tensors repeat(int64_t times, const Tensors& initial,
               const std::function<Tensors(const Tensors& state, Tensor step)>& body) {
  if (times < 1) throw user_error("repeat: {} times", times);
  if (initial.empty()) throw user_error("repeat: no state");
  Graph& g = *initial[0].graph;
  const int64_t number = static_cast<int64_t>(g.loops().size());
  g.mutable_loops().emplace_back();
  Loop loop;
  loop.times = times;
  Tensors state;
  for (const Tensor start : initial) {
    Shape shape = start.shape();
    if (!start.row_local()) shape.insert(shape.begin(), kRows);
    loop.initial.push_back(broadcast(start, shape).id);
    const int64_t index = static_cast<int64_t>(state.size());
    state.push_back(g.add({.op = Op::kLoopState, .shape = shape, .ints = {number, index}}));
    loop.state.push_back(state.back().id);
  }
  const Tensor step = g.add({.op = Op::kLoopStep, .shape = {kRows}, .ints = {number}});
  loop.step = step.id;
  const Tensors next = body(state, step);
  if (next.size() != state.size()) {
    throw user_error("repeat: the body returned {} states instead of {}", next.size(),
                     state.size());
  }
  for (size_t i = 0; i < next.size(); ++i) {
    if (feature_shape(next[i].shape()) != feature_shape(state[i].shape())) {
      throw mismatch("repeat", state[i].shape(), next[i].shape(), "of a state differ");
    }
    loop.next.push_back(broadcast(next[i], state[i].shape()).id);
  }
  std::vector<int32_t> inputs = loop.initial;
  inputs.insert(inputs.end(), loop.next.begin(), loop.next.end());
  Tensors results;
  for (size_t i = 0; i < state.size(); ++i) {
    results.push_back(g.add({.op = Op::kLoopResult,
                             .inputs = inputs,
                             .shape = state[i].shape(),
                             .ints = {number, static_cast<int64_t>(i)}}));
    loop.result.push_back(results.back().id);
  }
  g.mutable_loops()[static_cast<size_t>(number)] = std::move(loop);
  return results;
}

}  // namespace agora::compute

#include "compute/gradients.h"

#include <algorithm>

#include "base/error.h"
#include "compute/operations.h"

namespace agora::compute {
namespace {

// Sums a gradient over the axes along which `shape` was broadcast.
Tensor unbroadcast(Tensor gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  const Shape features = feature_shape(shape);
  const bool rows_summed = gradient.row_local() && !is_row_local(shape);
  const int64_t row_axis = gradient.row_local() ? 1 : 0;
  const int64_t extra = gradient.rank() - row_axis - static_cast<int64_t>(features.size());
  std::vector<int64_t> axes;
  for (int64_t axis = row_axis; axis < gradient.rank(); ++axis) {
    const int64_t at = axis - row_axis - extra;
    if (gradient.size(axis) > 1 && (at < 0 || features[static_cast<size_t>(at)] == 1)) {
      axes.push_back(axis);
    }
  }
  Tensor result = sum(gradient, axes, Keep::kYes);
  if (rows_summed) result = sum(result, {0});
  return reshape(result, shape);
}

class Backward {
 public:
  Backward(Tensor loss, const Tensors& wrt) : graph_(*loss.graph) {
    const size_t count = static_cast<size_t>(loss.id) + 1;
    gradient_.resize(count);
    needed_.resize(count);
    for (const Tensor target : wrt) {
      CHECK(target.graph == loss.graph, "gradients: tensors of two graphs");
      if (target.id <= loss.id) needed_[static_cast<size_t>(target.id)] = true;
    }
    for (int32_t id = 0; id <= loss.id; ++id) {
      const Node& node = graph_.node(id);
      if (node.op == Op::kStopGradient || node.op == Op::kLoopResult) continue;
      for (const int32_t input : node.inputs) {
        if (needed_[static_cast<size_t>(input)]) needed_[static_cast<size_t>(id)] = true;
      }
    }
    gradient_.back() = broadcast(graph_.constant(1.0), loss.shape());
    for (int32_t id = loss.id; id >= 0; --id) {
      const size_t at = static_cast<size_t>(id);
      if (needed_[at] && gradient_[at].graph != nullptr) propagate(id, gradient_[at]);
    }
  }

  Tensor result(Tensor target) {
    const size_t at = static_cast<size_t>(target.id);
    if (at < gradient_.size() && gradient_[at].graph != nullptr) return gradient_[at];
    return broadcast(graph_.constant(0.0), target.shape());
  }

 private:
  // Adds to the gradient of one input of a node.
  void give(int32_t input, Tensor gradient) {
    Tensor& total = gradient_[static_cast<size_t>(input)];
    gradient = unbroadcast(gradient, graph_.node(input).shape);
    total = total.graph == nullptr ? gradient : total + gradient;
  }
  bool wants(int32_t input) const { return needed_[static_cast<size_t>(input)]; }

  void propagate(int32_t id, Tensor g) {
    const Node node = graph_.node(id);  // a copy: recording moves the nodes
    const Tensor y{&graph_, id};
    const auto in = [&](size_t k) { return Tensor{&graph_, node.inputs[k]}; };
    // Gradients are built only for inputs that lead to a target.
    const auto to = [&](size_t k, auto&& gradient) {
      if (wants(node.inputs[k])) give(node.inputs[k], gradient());
    };
    switch (node.op) {
      case Op::kConstant:
      case Op::kInput:
      case Op::kVariable:
      case Op::kInverseRows:
      case Op::kLoopState:
      case Op::kLoopStep:
      case Op::kLoopResult:
      case Op::kStopGradient:
      case Op::kGreater:
      case Op::kGreaterEqual:
      case Op::kEqual:
      case Op::kOneHot:
        break;
      case Op::kNeg:
        to(0, [&] { return -g; });
        break;
      case Op::kExp:
        to(0, [&] { return g * y; });
        break;
      case Op::kLog:
        to(0, [&] { return g / in(0); });
        break;
      case Op::kSqrt:
        to(0, [&] { return g * 0.5 / y; });
        break;
      case Op::kSquare:
        to(0, [&] { return g * 2.0 * in(0); });
        break;
      case Op::kAbs:
        to(0, [&] { return where(greater_equal(in(0), graph_.constant(0)), g, -g); });
        break;
      case Op::kTanh:
        to(0, [&] { return g * (1.0 - square(y)); });
        break;
      case Op::kSigmoid:
        to(0, [&] { return g * (y * (1.0 - y)); });
        break;
      case Op::kSoftplus:
        to(0, [&] { return g * sigmoid(in(0)); });
        break;
      case Op::kRelu:
        to(0, [&] { return where(greater(y, graph_.constant(0)), g, zero()); });
        break;
      case Op::kAdd:
        to(0, [&] { return g; });
        to(1, [&] { return g; });
        break;
      case Op::kSub:
        to(0, [&] { return g; });
        to(1, [&] { return -g; });
        break;
      case Op::kMul:
        to(0, [&] { return g * in(1); });
        to(1, [&] { return g * in(0); });
        break;
      case Op::kDiv:
        to(0, [&] { return g / in(1); });
        to(1, [&] { return -(g * y / in(1)); });
        break;
      case Op::kMin:
        choose(node, in(1), in(0), g);
        break;
      case Op::kMax:
        choose(node, in(0), in(1), g);
        break;
      case Op::kWhere:
        to(1, [&] { return where(in(0), g, zero()); });
        to(2, [&] { return where(in(0), zero(), g); });
        break;
      case Op::kReshape:
        to(0, [&] { return reshape(g, in(0).shape()); });
        break;
      case Op::kTranspose:
        to(0, [&] { return transpose(g, inverse(node.ints)); });
        break;
      case Op::kSlice:
        to(0, [&] {
          const int64_t axis = node.ints[0];
          return pad(g, axis, node.ints[1], in(0).size(axis) - node.ints[2]);
        });
        break;
      case Op::kPad:
        to(0, [&] {
          const int64_t axis = node.ints[0];
          return slice(g, axis, node.ints[1], node.ints[1] + in(0).size(axis));
        });
        break;
      case Op::kBroadcast:
        to(0, [&] { return g; });
        break;
      case Op::kConcat: {
        int64_t begin = 0;
        for (size_t k = 0; k < node.inputs.size(); ++k) {
          const int64_t end = begin + in(k).size(node.ints[0]);
          to(k, [&] { return slice(g, node.ints[0], begin, end); });
          begin = end;
        }
        break;
      }
      case Op::kGather:
        to(0, [&] {
          return graph_.add({.op = Op::kScatter,
                             .inputs = {broadcast(g, node.shape).id, node.inputs[1]},
                             .shape = in(0).shape()});
        });
        break;
      case Op::kScatter:
        to(0, [&] { return gather(g, in(1)); });
        break;
      case Op::kSum:
        to(0, [&] { return broadcast(g, in(0).shape()); });
        break;
      case Op::kSumRows:
        to(0, [&] { return broadcast(g, in(0).shape()); });
        break;
      case Op::kMaximum:
        to(0, [&] {  // ties share the gradient
          const Tensor hit = equal(in(0), y);
          return g / sum(hit, node.ints, Keep::kYes) * hit;
        });
        break;
      case Op::kSoftmax:
        to(0, [&] { return y * (g - sum(g * y, {node.ints[0]}, Keep::kYes)); });
        break;
      case Op::kLogSoftmax:
        to(0, [&] {
          const Tensor total = sum(broadcast(g, node.shape), {node.ints[0]}, Keep::kYes);
          return g - softmax(in(0), node.ints[0]) * total;
        });
        break;
      case Op::kMatmul:
        matmul_gradient(node, in(0), in(1), g);
        break;
      case Op::kReflect:
        to(0, [&] { return reflect(broadcast(g, node.shape), node.ints); });
        break;
      case Op::kBlockMatmul:
        block_matmul_gradient(node, g);
        break;
      case Op::kOuter:  // (k, n) = sum of x (k) dy (n)
        to(0, [&] { return matmul(in(1), transpose(g)); });
        to(1, [&] { return matmul(in(0), g); });
        break;
      case Op::kConv:
        to(0, [&] {
          return graph_.add({.op = Op::kConvInput,
                             .inputs = {broadcast(g, node.shape).id, node.inputs[1]},
                             .shape = in(0).shape()});
        });
        to(1, [&] {
          return graph_.add({.op = Op::kConvWeight,
                             .inputs = {node.inputs[0], broadcast(g, node.shape).id},
                             .shape = in(1).shape()});
        });
        break;
      case Op::kPool:
        to(0, [&] {
          return graph_.add({.op = Op::kPoolGradient,
                             .inputs = {node.inputs[0], broadcast(g, node.shape).id},
                             .shape = in(0).shape()});
        });
        break;
      case Op::kConvInput:
      case Op::kConvWeight:
      case Op::kPoolGradient:
        throw user_error("gradients: {} has no gradient", graph_.describe(id));
    }
  }

  Tensor zero() { return graph_.constant(0.0); }

  // The gradient of max(a, b) goes to a where a >= b; that of min(a, b) to a where b >= a.
  void choose(const Node& node, Tensor larger, Tensor smaller, Tensor g) {
    const Tensor first = greater_equal(larger, smaller);
    if (wants(node.inputs[0])) give(node.inputs[0], where(first, g, zero()));
    if (wants(node.inputs[1])) give(node.inputs[1], where(first, zero(), g));
  }

  void matmul_gradient(const Node& node, Tensor x, Tensor w, Tensor g) {
    g = broadcast(g, node.shape);
    if (wants(x.id)) give(x.id, matmul(g, transpose(w)));
    if (!wants(w.id)) return;
    if (x.row_local()) {
      give(w.id, graph_.add({.op = Op::kOuter, .inputs = {x.id, g.id}, .shape = w.shape()}));
      return;
    }
    const int64_t in = x.size(-1), out = g.size(-1);
    const Tensor flat_x = reshape(x, {feature_count(x.shape()) / in, in});
    const Tensor flat_g = reshape(g, {feature_count(g.shape()) / out, out});
    give(w.id, matmul(transpose(flat_x), flat_g));
  }

  void block_matmul_gradient(const Node& node, Tensor g) {
    g = broadcast(g, node.shape);
    const auto in = [&](size_t k) { return Tensor{&graph_, node.inputs[k]}; };
    const Tensor x = in(0);
    if (wants(x.id)) {
      give(x.id, matmul_by_block(
                     g, {transpose(in(1)), transpose(in(2)), transpose(in(3)), transpose(in(4))}));
    }
    const auto block = [&](Tensor it, size_t k) {
      const bool rest_of_rows = k >= 2, rest_of_columns = k % 2 == 1;
      it = slice(it, -3, rest_of_rows ? 1 : 0, rest_of_rows ? it.size(-3) : 1);
      return slice(it, -2, rest_of_columns ? 1 : 0, rest_of_columns ? it.size(-2) : 1);
    };
    for (size_t k = 0; k < 4; ++k) {
      const Tensor w = in(k + 1);
      const bool empty = (k >= 2 && x.size(-3) == 1) || (k % 2 == 1 && x.size(-2) == 1);
      if (empty || !wants(w.id)) continue;
      give(w.id,
           graph_.add(
               {.op = Op::kOuter, .inputs = {block(x, k).id, block(g, k).id}, .shape = w.shape()}));
    }
    if (node.inputs.size() == 6 && wants(node.inputs[5])) give(node.inputs[5], block(g, 0));
  }

  static std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
    std::vector<int64_t> result(order.size());
    for (size_t axis = 0; axis < order.size(); ++axis) {
      result[static_cast<size_t>(order[axis])] = static_cast<int64_t>(axis);
    }
    return result;
  }

  Graph& graph_;
  std::vector<Tensor> gradient_;
  std::vector<bool> needed_;
};

}  // namespace

Tensors gradients(Tensor loss, const Tensors& wrt) {
  Backward backward(loss, wrt);
  Tensors results;
  for (const Tensor target : wrt) results.push_back(backward.result(target));
  return results;
}

}  // namespace agora::compute

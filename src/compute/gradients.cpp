#include "compute/gradients.h"

#include <algorithm>

#include "base/error.h"
#include "compute/operation.h"
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
  void add(int32_t input, Tensor gradient) {
    Tensor& total = gradient_[static_cast<size_t>(input)];
    gradient = unbroadcast(gradient, graph_.node(input).shape);
    total = total.graph == nullptr ? gradient : total + gradient;
  }

  void propagate(int32_t id, Tensor g) {
    const Node node = graph_.node(id);  // a copy: recording moves the nodes
    const Operation& it = operation(node.op);
    if (it.constant) return;
    if (it.gradient == nullptr) {
      throw user_error("gradients: {} has no gradient", graph_.describe(id));
    }
    it.gradient({graph_, node, {&graph_, id}, g, wanted_, give_});
  }

  Graph& graph_;
  std::vector<Tensor> gradient_;
  std::vector<bool> needed_;
  const std::function<bool(int32_t)> wanted_ = [this](int32_t input) {
    return needed_[static_cast<size_t>(input)];
  };
  const std::function<void(int32_t, Tensor)> give_ = [this](int32_t input, Tensor gradient) {
    add(input, gradient);
  };
};

}  // namespace

Tensors gradients(Tensor loss, const Tensors& wrt) {
  Backward backward(loss, wrt);
  Tensors results;
  for (const Tensor target : wrt) results.push_back(backward.result(target));
  return results;
}

Tensors scaled_gradients(Tensor loss, const Tensors& wrt, double scale) {
  Tensors results = gradients(loss * scale, wrt);
  for (Tensor& it : results) it = it * (1 / scale);
  return results;
}

}  // namespace agora::compute

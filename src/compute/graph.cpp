#include "compute/graph.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "compute/operation.h"

namespace agora::compute {

Shape feature_shape(const Shape& shape) {
  return is_row_local(shape) ? Shape(shape.begin() + 1, shape.end()) : shape;
}

int64_t feature_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size == kRows ? 1 : size;
  return count;
}

std::string to_string(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(size == kRows ? "rows" : std::to_string(size));
  return fmt::format("({})", fmt::join(sizes, ", "));
}

const char* op_name(Op op) { return operation(op).name; }
bool is_elementwise(Op op) { return operation(op).family == Family::kElementwise; }

Initializer zeros() { return filled(0.0); }

Initializer filled(double value) {
  return [value](std::span<double> values, const Shape&, Rng&) {
    std::fill(values.begin(), values.end(), value);
  };
}

const Node& Tensor::node() const { return graph->node(id); }

int64_t Tensor::size(int64_t axis) const {
  const int64_t at = axis < 0 ? axis + rank() : axis;
  CHECK(at >= 0 && at < rank(), "axis {} of {}", axis, to_string(shape()));
  return shape()[static_cast<size_t>(at)];
}

Tensor Tensor::named(std::string_view name) const {
  graph->mutable_node(id).name = name;
  return *this;
}

Tensor Graph::add(Node node) {
  for (size_t axis = 0; axis < node.shape.size(); ++axis) {
    CHECK(node.shape[axis] > 0 || (axis == 0 && node.shape[0] == kRows), "{} of shape {}",
          op_name(node.op), to_string(node.shape));
  }
  nodes_.push_back(std::move(node));
  return {this, size() - 1};
}

Tensor Graph::add_named(Node node) {
  for (const Node& other : nodes_) {
    if ((other.op == Op::kInput || other.op == Op::kVariable) && other.name == node.name) {
      throw user_error("the graph has two inputs or variables named '{}'", node.name);
    }
  }
  for (size_t axis = 0; axis < node.shape.size(); ++axis) {
    if (node.shape[axis] <= 0 && !(axis == 0 && node.shape[0] == kRows)) {
      throw user_error("{} '{}': axis {} of shape {} must be positive", op_name(node.op), node.name,
                       axis, to_string(node.shape));
    }
  }
  return add(std::move(node));
}

Tensor Graph::input(std::string_view name, Shape shape) {
  return add_named({.op = Op::kInput, .shape = std::move(shape), .name = std::string(name)});
}

Tensor Graph::index_input(std::string_view name, Shape shape) {
  return add_named({.op = Op::kInput,
                    .shape = std::move(shape),
                    .name = std::string(name),
                    .storage = Storage::kIndex});
}

Tensor Graph::byte_input(std::string_view name, Shape shape, double scale) {
  return add_named({.op = Op::kInput,
                    .shape = std::move(shape),
                    .data = {scale},
                    .name = std::string(name),
                    .storage = Storage::kByte});
}

Tensor Graph::variable(std::string_view name, Shape shape, Initializer initial) {
  Tensor variable =
      add_named({.op = Op::kVariable, .shape = std::move(shape), .name = std::string(name)});
  initializers_.emplace_back(variable.id, std::move(initial));
  return variable;
}

Tensor Graph::parameter(std::string_view name, Shape shape, Initializer initial) {
  Tensor parameter = variable(name, std::move(shape), std::move(initial));
  mutable_node(parameter.id).trainable = true;
  return parameter;
}

Tensor Graph::constant(double value) { return add({.op = Op::kConstant, .data = {value}}); }

Tensor Graph::constant(std::vector<double> values, Shape shape) {
  if (is_row_local(shape) || static_cast<int64_t>(values.size()) != feature_count(shape)) {
    throw user_error("constant: {} values do not fill the shape {}", values.size(),
                     to_string(shape));
  }
  return add({.op = Op::kConstant, .shape = std::move(shape), .data = std::move(values)});
}

Tensor Graph::inverse_rows() {
  if (inverse_rows_ < 0) inverse_rows_ = add({.op = Op::kInverseRows}).id;
  return {this, inverse_rows_};
}

Tensors Graph::parameters() {
  Tensors all;
  for (int32_t id = 0; id < size(); ++id) {
    if (node(id).trainable) all.push_back({this, id});
  }
  return all;
}

Tensor Graph::find(std::string_view name) {
  std::vector<std::string> names;
  for (int32_t id = 0; id < size(); ++id) {
    if (node(id).op != Op::kInput && node(id).op != Op::kVariable) continue;
    if (node(id).name == name) return {this, id};
    names.push_back(node(id).name);
  }
  throw user_error("the graph has no input or variable '{}'{}", name, suggestion(name, names));
}

const Initializer& Graph::initializer(int32_t id) const {
  for (const auto& [variable, initial] : initializers_) {
    if (variable == id) return initial;
  }
  CHECK(false, "node {} is no variable", id);
}

std::string Graph::describe(int32_t id) const {
  const Node& it = node(id);
  if (it.name.empty()) return fmt::format("{} #{} {}", op_name(it.op), id, to_string(it.shape));
  return fmt::format("{} '{}' {}", op_name(it.op), it.name, to_string(it.shape));
}

}  // namespace agora::compute

#include "compute/shape_rules.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace agora::compute {
namespace {

UserError mismatch(const char* operation, const Shape& a, const Shape& b, const char* why) {
  return user_error("{}: shapes {} and {} {}", operation, to_string(a), to_string(b), why);
}

size_t rank(const Shape& shape) { return shape.size(); }

}  // namespace

Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b) {
  const Shape fa = feature_shape(a), fb = feature_shape(b);
  Shape result(std::max(fa.size(), fb.size()));
  for (size_t back = 1; back <= result.size(); ++back) {
    const int64_t x = back <= fa.size() ? fa[fa.size() - back] : 1;
    const int64_t y = back <= fb.size() ? fb[fb.size() - back] : 1;
    if (x != y && x != 1 && y != 1) throw mismatch(operation, a, b, "do not broadcast");
    result[result.size() - back] = std::max(x, y);
  }
  if (is_row_local(a) || is_row_local(b)) result.insert(result.begin(), kRows);
  return result;
}

namespace shape_of {

Shape told(const Operation&, const Node& node, Shapes) { return node.shape; }

Shape same(const Operation&, const Node&, Shapes in) { return in[0]; }

Shape elementwise(const Operation& it, const Node&, Shapes in) {
  Shape shape = in.back();
  for (size_t k = in.size() - 1; k-- > 0;) shape = broadcast_shapes(it.name, in[k], shape);
  return shape;
}

Shape reshape(const Operation& it, const Node& node, Shapes in) {
  if (is_row_local(in[0]) != is_row_local(node.shape) ||
      feature_count(in[0]) != feature_count(node.shape)) {
    throw mismatch(it.name, in[0], node.shape, "hold different numbers of values");
  }
  return node.shape;
}

Shape broadcast(const Operation& it, const Node& node, Shapes in) {
  if (broadcast_shapes(it.name, in[0], node.shape) != node.shape) {
    throw mismatch(it.name, in[0], node.shape, "do not broadcast");
  }
  return node.shape;
}

Shape transpose(const Operation& it, const Node& node, Shapes in) {
  std::vector<int64_t> sorted = node.ints, axes(rank(in[0]));
  std::sort(sorted.begin(), sorted.end());
  std::iota(axes.begin(), axes.end(), 0);
  if (sorted != axes) {
    throw user_error("{}: [{}] is no permutation of the axes of {}", it.name,
                     fmt::join(node.ints, ", "), to_string(in[0]));
  }
  if (is_row_local(in[0]) && node.ints[0] != 0) {
    throw user_error("{}: the row axis of {} must stay first", it.name, to_string(in[0]));
  }
  Shape shape;
  for (const int64_t axis : node.ints) shape.push_back(in[0][static_cast<size_t>(axis)]);
  return shape;
}

Shape slice(const Operation& it, const Node& node, Shapes in) {
  Shape shape = in[0];
  const int64_t axis = node.ints[0], begin = node.ints[1], end = node.ints[2];
  if (begin < 0 || end > shape[static_cast<size_t>(axis)] || begin >= end) {
    throw user_error("{}: [{}, {}) of axis {} is empty or outside shape {}", it.name, begin, end,
                     axis, to_string(shape));
  }
  shape[static_cast<size_t>(axis)] = end - begin;
  return shape;
}

Shape concat(const Operation& it, const Node& node, Shapes in) {
  const auto axis = static_cast<size_t>(node.ints[0]);
  Shape shape = in[0];
  for (const Shape& part : in.subspan(1)) {
    Shape expected = shape;
    if (rank(part) == rank(shape)) expected[axis] = part[axis];
    if (part != expected) throw mismatch(it.name, shape, part, "differ off the axis");
    shape[axis] += part[axis];
  }
  return shape;
}

Shape pad(const Operation& it, const Node& node, Shapes in) {
  if (node.ints[1] < 0 || node.ints[2] < 0) {
    throw user_error("{}: widths {} and {} of shape {} must not be negative", it.name, node.ints[1],
                     node.ints[2], to_string(in[0]));
  }
  Shape shape = in[0];
  shape[static_cast<size_t>(node.ints[0])] += node.ints[1] + node.ints[2];
  return shape;
}

Shape gather(const Operation& it, const Node&, Shapes in) {
  if (is_row_local(in[0]) || in[0].empty() || !is_row_local(in[1])) {
    throw mismatch(it.name, in[0], in[1], "must be a shared table and row-local indices");
  }
  Shape shape = in[1];
  shape.insert(shape.end(), in[0].begin() + 1, in[0].end());
  return shape;
}

Shape scatter(const Operation& it, const Node& node, Shapes in) {
  Shape expected = in[1];
  expected.insert(expected.end(), node.shape.begin() + 1, node.shape.end());
  if (in[0] != expected) throw mismatch(it.name, in[0], expected, "differ");
  return node.shape;
}

Shape one_hot(const Operation& it, const Node& node, Shapes in) {
  const int64_t depth = node.ints[0];
  if (depth < 1) throw user_error("{}: depth {} must be positive", it.name, depth);
  if (!is_row_local(in[0])) {
    throw user_error("{}: indices of shape {} must be row-local", it.name, to_string(in[0]));
  }
  Shape shape = in[0];
  shape.push_back(depth);
  return shape;
}

Shape reduction(const Operation&, const Node& node, Shapes in) {
  Shape shape = in[0];
  for (const int64_t axis : node.ints) shape[static_cast<size_t>(axis)] = 1;
  return shape;
}

Shape sum_rows(const Operation&, const Node&, Shapes in) { return feature_shape(in[0]); }

Shape reflect(const Operation& it, const Node& node, Shapes in) {
  const std::vector<int64_t>& axes = node.ints;
  const bool neighbours = axes.size() == 2 && axes[0] + 1 == axes[1];
  if (!is_row_local(in[0]) || (axes.size() != 1 && !neighbours) || axes[0] == 0) {
    throw user_error("{}: [{}] of shape {} is not one feature axis or two neighbouring ones",
                     it.name, fmt::join(axes, ", "), to_string(in[0]));
  }
  return in[0];
}

Shape matmul(const Operation& it, const Node&, Shapes in) {
  if (feature_shape(in[0]).empty()) throw mismatch(it.name, in[0], in[1], "need an inner axis");
  if (is_row_local(in[1]) || rank(in[1]) != 2 || in[1][0] != in[0].back()) {
    throw mismatch(it.name, in[0], in[1], "have different inner sizes");
  }
  Shape shape = in[0];
  shape.back() = in[1][1];
  return shape;
}

Shape outer(const Operation& it, const Node&, Shapes in) {
  Shape expected = in[0];
  expected.back() = in[1].back();
  if (!is_row_local(in[0]) || in[1] != expected) {
    throw mismatch(it.name, in[0], in[1], "differ before the last axis");
  }
  return {in[0].back(), in[1].back()};
}

Shape block_matmul(const Operation& it, const Node&, Shapes in) {
  const int64_t out = rank(in[1]) == 2 ? in[1][1] : 0;
  for (size_t k = 1; k < in.size(); ++k) {
    const Shape expected = k < 5 ? Shape{in[0].back(), out} : Shape{out};
    if (!is_row_local(in[0]) || rank(in[0]) < 4 || in[k] != expected) {
      throw mismatch(it.name, in[0], in[k],
                     "are not (rows, ..., a, b, k) and weights (k, n) with a bias (n)");
    }
  }
  Shape shape = in[0];
  shape.back() = out;
  return shape;
}

Shape conv(const Operation& it, const Node&, Shapes in) {
  const Shape &x = in[0], &w = in[1];
  if (!is_row_local(x) || rank(x) != 4 || is_row_local(w) || rank(w) != 4 || w[0] != 3 ||
      w[1] != 3 || w[2] != x[3]) {
    throw mismatch(it.name, x, w, "are not (rows, height, width, in) and (3, 3, in, out)");
  }
  return {kRows, x[1], x[2], w[3]};
}

Shape conv_input(const Operation& it, const Node&, Shapes in) {
  const Shape &dy = in[0], &w = in[1];
  if (rank(dy) != 4 || rank(w) != 4 || dy[3] != w[3]) throw mismatch(it.name, dy, w, "do not fit");
  return {kRows, dy[1], dy[2], w[2]};
}

Shape conv_weight(const Operation& it, const Node&, Shapes in) {
  const Shape &x = in[0], &dy = in[1];
  if (rank(x) != 4 || rank(dy) != 4 || x[1] != dy[1] || x[2] != dy[2]) {
    throw mismatch(it.name, x, dy, "do not fit");
  }
  return {3, 3, x[3], dy[3]};
}

Shape pool(const Operation& it, const Node&, Shapes in) {
  if (!is_row_local(in[0]) || rank(in[0]) != 4) {
    throw user_error("{}: shape {} is not (rows, height, width, channels)", it.name,
                     to_string(in[0]));
  }
  return {kRows, (in[0][1] + 1) / 2, (in[0][2] + 1) / 2, in[0][3]};
}

}  // namespace shape_of
}  // namespace agora::compute

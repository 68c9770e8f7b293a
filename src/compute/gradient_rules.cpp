#include "compute/gradient_rules.h"

#include "compute/operations.h"

namespace agora::compute {

Tensor GradientOf::whole() const { return broadcast(g, node.shape); }

namespace gradient_of {

void concat(const GradientOf& it) {
  const int64_t axis = it.node.ints[0];
  int64_t begin = 0;
  for (size_t k = 0; k < it.node.inputs.size(); ++k) {
    const int64_t end = begin + it.in(k).size(axis);
    it.to(k, [&] { return slice(it.g, axis, begin, end); });
    begin = end;
  }
}

void matmul(const GradientOf& it) {
  const Tensor x = it.in(0), w = it.in(1), g = it.whole();
  it.to(0, [&] { return compute::matmul(g, transpose(w)); });
  it.to(1, [&] {
    if (x.row_local()) return record(Op::kOuter, {x, g});
    const int64_t in = x.size(-1), out = g.size(-1);
    const Tensor flat_x = reshape(x, {feature_count(x.shape()) / in, in});
    const Tensor flat_g = reshape(g, {feature_count(g.shape()) / out, out});
    return compute::matmul(transpose(flat_x), flat_g);
  });
}

void block_matmul(const GradientOf& it) {
  const Tensor x = it.in(0), g = it.whole();
  it.to(0, [&] {
    return matmul_by_block(
        g, {transpose(it.in(1)), transpose(it.in(2)), transpose(it.in(3)), transpose(it.in(4))});
  });
  const auto block = [](Tensor of, size_t k) {
    const bool rest_of_rows = k >= 2, rest_of_columns = k % 2 == 1;
    of = slice(of, -3, rest_of_rows ? 1 : 0, rest_of_rows ? of.size(-3) : 1);
    return slice(of, -2, rest_of_columns ? 1 : 0, rest_of_columns ? of.size(-2) : 1);
  };
  for (size_t k = 0; k < 4; ++k) {
    const bool empty = (k >= 2 && x.size(-3) == 1) || (k % 2 == 1 && x.size(-2) == 1);
    if (!empty) it.to(k + 1, [&] { return record(Op::kOuter, {block(x, k), block(g, k)}); });
  }
  if (it.node.inputs.size() == 6) it.to(5, [&] { return block(g, 0); });
}

void conv(const GradientOf& it) {
  it.to(0, [&] { return record(Op::kConvInput, {it.whole(), it.in(1)}); });
  it.to(1, [&] { return record(Op::kConvWeight, {it.in(0), it.whole()}); });
}

void choice(const GradientOf& it, Tensor larger, Tensor smaller) {
  const Tensor first = greater_equal(larger, smaller);
  it.to(0, [&] { return where(first, it.g, it.zero()); });
  it.to(1, [&] { return where(first, it.zero(), it.g); });
}

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> result(order.size());
  for (size_t axis = 0; axis < order.size(); ++axis) {
    result[static_cast<size_t>(order[axis])] = static_cast<int64_t>(axis);
  }
  return result;
}

}  // namespace gradient_of
}  // namespace agora::compute

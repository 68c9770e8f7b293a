#include "compute/simplify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "compute/operations.h"

namespace agora::compute {
namespace {

std::vector<bool> reachable(const Graph& graph, const std::vector<int32_t>& roots) {
  std::vector<bool> needed(static_cast<size_t>(graph.size()));
  std::vector<int32_t> open = roots;
  while (!open.empty()) {
    const int32_t id = open.back();
    open.pop_back();
    if (needed[static_cast<size_t>(id)]) continue;
    needed[static_cast<size_t>(id)] = true;
    const Node& node = graph.node(id);
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    if (node.op == Op::kLoopResult) {
      const Loop& loop = graph.loops()[static_cast<size_t>(node.ints[0])];
      open.insert(open.end(), loop.state.begin(), loop.state.end());
      open.push_back(loop.step);
    }
  }
  return needed;
}

double apply(Op op, double a, double b, double c) {
  switch (op) {
    case Op::kNeg:
      return -a;
    case Op::kExp:
      return std::exp(a);
    case Op::kLog:
      return std::log(a);
    case Op::kSqrt:
      return std::sqrt(a);
    case Op::kSquare:
      return a * a;
    case Op::kAbs:
      return std::abs(a);
    case Op::kTanh:
      return std::tanh(a);
    case Op::kSigmoid:
      return 1.0 / (1.0 + std::exp(-a));
    case Op::kSoftplus:
      return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a)));
    case Op::kRelu:
      return std::max(a, 0.0);
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
      return a / b;
    case Op::kMin:
      return std::min(a, b);
    case Op::kMax:
      return std::max(a, b);
    case Op::kGreater:
      return a > b;
    case Op::kGreaterEqual:
      return a >= b;
    case Op::kEqual:
      return a == b;
    case Op::kWhere:
      return a != 0 ? b : c;
    default:
      CHECK(false, "{} is not elementwise", op_name(op));
  }
}

class Rewriter {
 public:
  Rewriter(const Graph& source, bool rewrite)
      : source_(source), rewrite_(rewrite), graph_(std::make_unique<Graph>()) {
    mapped_.assign(static_cast<size_t>(source.size()), -1);
  }

  Simplified run(const std::vector<int32_t>& roots) {
    const std::vector<bool> needed = reachable(source_, roots);
    number_loops(needed);
    for (int32_t id = 0; id < source_.size(); ++id) {
      if (needed[static_cast<size_t>(id)]) mapped_[static_cast<size_t>(id)] = copy(id);
    }
    finish_loops();
    std::vector<int32_t> new_roots;
    for (const int32_t root : roots) new_roots.push_back(at(root));
    if (rewrite_) return Rewriter(*graph_, false).run(new_roots);  // rules leave dead nodes
    return {std::move(graph_), std::move(new_roots)};
  }

 private:
  int32_t at(int32_t old) const {  // -1: a loop's result that nobody needs
    return old < 0 ? -1 : mapped_[static_cast<size_t>(old)];
  }
  const Node& node(int32_t id) const { return graph_->node(id); }

  void number_loops(const std::vector<bool>& needed) {
    for (const Loop& loop : source_.loops()) {
      const bool used = loop.step >= 0 && needed[static_cast<size_t>(loop.step)];
      loop_number_.push_back(used ? loops_used_++ : -1);
    }
    graph_->mutable_loops().resize(static_cast<size_t>(loops_used_));
  }

  void finish_loops() {
    for (size_t k = 0; k < source_.loops().size(); ++k) {
      if (loop_number_[k] < 0) continue;
      const Loop& old = source_.loops()[k];
      Loop& loop = graph_->mutable_loops()[static_cast<size_t>(loop_number_[k])];
      loop.times = old.times;
      loop.step = at(old.step);
      for (const int32_t id : old.initial) loop.initial.push_back(at(id));
      for (const int32_t id : old.state) loop.state.push_back(at(id));
      for (const int32_t id : old.next) loop.next.push_back(at(id));
      for (const int32_t id : old.result) loop.result.push_back(at(id));
    }
  }

  int32_t copy(int32_t id) {
    Node it = source_.node(id);
    for (int32_t& input : it.inputs) input = at(input);
    if (it.op == Op::kLoopState || it.op == Op::kLoopStep || it.op == Op::kLoopResult) {
      it.ints[0] = loop_number_[static_cast<size_t>(it.ints[0])];
    }
    const std::string name = it.name;
    const bool source = it.op == Op::kInput || it.op == Op::kVariable;
    if (!rewrite_ || source) return graph_->add(std::move(it)).id;
    const int32_t result = simplified(std::move(it));
    if (!name.empty() && node(result).name.empty()) graph_->mutable_node(result).name = name;
    return result;
  }

  // Adds a node unless an equal one exists.
  int32_t intern(Node it) {
    if ((it.op == Op::kAdd || it.op == Op::kMul) && it.inputs[0] > it.inputs[1]) {
      std::swap(it.inputs[0], it.inputs[1]);
    }
    const Key key{it.op, it.inputs, it.shape, it.ints, it.data};
    const auto [found, fresh] = known_.try_emplace(key, graph_->size());
    if (fresh) {
      it.name.clear();
      graph_->add(std::move(it));
    }
    return found->second;
  }

  int32_t uniform(double value, const Shape& shape) {
    return intern({.op = Op::kConstant, .shape = shape, .data = {value}});
  }
  std::optional<double> uniform_value(int32_t id) const {
    const Node& it = node(id);
    if (it.op == Op::kConstant && it.data.size() == 1) return it.data[0];
    return std::nullopt;
  }
  int32_t broadcast_to(int32_t id, const Shape& shape) {
    if (node(id).shape == shape) return id;
    return simplified({.op = Op::kBroadcast, .inputs = {id}, .shape = shape});
  }

  int32_t simplified(Node it) {
    if (is_elementwise(it.op)) return elementwise(std::move(it));
    const auto in = [&](size_t k) -> const Node& { return node(it.inputs[k]); };
    double value = 0;
    bool constant = false;
    if (!it.inputs.empty()) {
      if (const auto known = uniform_value(it.inputs[0])) {
        constant = true;
        value = *known;
      }
    }
    switch (it.op) {
      case Op::kConstant: {
        const bool same =
            std::all_of(it.data.begin(), it.data.end(), [&](double x) { return x == it.data[0]; });
        if (same) it.data.resize(1);
        break;
      }
      case Op::kStopGradient:
        return it.inputs[0];
      case Op::kReshape:
      case Op::kBroadcast:
        if (constant) return uniform(value, it.shape);
        if (in(0).op == it.op) it.inputs[0] = int32_t{in(0).inputs[0]};
        if (in(0).shape == it.shape) return it.inputs[0];
        if (it.op == Op::kBroadcast && feature_shape(in(0).shape) == feature_shape(it.shape) &&
            in(0).op == Op::kReshape && node(in(0).inputs[0]).shape == it.shape) {
          return in(0).inputs[0];
        }
        break;
      case Op::kTranspose:
        if (constant) return uniform(value, it.shape);
        if (std::is_sorted(it.ints.begin(), it.ints.end())) return it.inputs[0];
        if (in(0).op == Op::kTranspose) {
          for (int64_t& axis : it.ints) axis = in(0).ints[static_cast<size_t>(axis)];
          it.inputs[0] = int32_t{in(0).inputs[0]};
          return simplified(std::move(it));
        }
        break;
      case Op::kSlice:
        if (constant) return uniform(value, it.shape);
        if (in(0).shape == it.shape) return it.inputs[0];
        break;
      case Op::kSum:
      case Op::kMaximum: {
        std::vector<int64_t> axes;
        double count = 1;
        for (const int64_t axis : it.ints) {
          const int64_t size = in(0).shape[static_cast<size_t>(axis)];
          if (size > 1) axes.push_back(axis);
          count *= static_cast<double>(size);
        }
        if (axes.empty()) return it.inputs[0];
        it.ints = axes;
        if (constant) return uniform(it.op == Op::kSum ? value * count : value, it.shape);
        break;
      }
      case Op::kReflect: {
        std::erase_if(it.ints,
                      [&](int64_t axis) { return it.shape[static_cast<size_t>(axis)] == 1; });
        if (it.ints.empty()) return it.inputs[0];
        if (in(0).op == Op::kReflect && in(0).ints == it.ints) return in(0).inputs[0];
        break;
      }
      case Op::kSoftmax:
      case Op::kLogSoftmax:
        if (it.shape[static_cast<size_t>(it.ints[0])] == 1) {
          return uniform(it.op == Op::kSoftmax ? 1.0 : 0.0, it.shape);
        }
        break;
      default:
        break;
    }
    return intern(std::move(it));
  }

  int32_t elementwise(Node it) {
    drop_broadcasts(it);
    if (const auto folded = fold(it)) return *folded;
    const auto is = [&](size_t k, double value) { return uniform_value(it.inputs[k]) == value; };
    const auto keep = [&](size_t k) { return broadcast_to(it.inputs[k], it.shape); };
    switch (it.op) {
      case Op::kAdd:
        if (is(0, 0.0)) return keep(1);
        if (is(1, 0.0)) return keep(0);
        if (const auto merged = merge_sum(it)) return *merged;
        break;
      case Op::kSub:
        if (is(1, 0.0)) return keep(0);
        if (is(0, 0.0)) {
          return broadcast_to(negated(it.inputs[1]), it.shape);
        }
        break;
      case Op::kMul:
        if (is(0, 1.0)) return keep(1);
        if (is(1, 1.0)) return keep(0);
        if (is(0, -1.0)) return broadcast_to(negated(it.inputs[1]), it.shape);
        if (is(1, -1.0)) return broadcast_to(negated(it.inputs[0]), it.shape);
        if (const auto merged = merge_factors(it)) return *merged;
        break;
      case Op::kDiv:
        if (is(1, 1.0)) return keep(0);
        break;
      case Op::kNeg: {
        const Node& inner = node(it.inputs[0]);
        if (inner.op == Op::kNeg) return inner.inputs[0];
        if (inner.op == Op::kSub) {
          return intern(
              {.op = Op::kSub, .inputs = {inner.inputs[1], inner.inputs[0]}, .shape = it.shape});
        }
        break;
      }
      case Op::kWhere:
        if (const auto condition = uniform_value(it.inputs[0]))
          return keep(*condition != 0 ? 1 : 2);
        break;
      default:
        break;
    }
    return intern(std::move(it));
  }

  int32_t negated(int32_t id) {
    return simplified({.op = Op::kNeg, .inputs = {id}, .shape = node(id).shape});
  }

  // Elementwise operations broadcast by themselves.
  void drop_broadcasts(Node& it) {
    for (int32_t& input : it.inputs) {
      const Node& operand = node(input);
      const bool constant = operand.op == Op::kConstant && operand.data.size() == 1;
      if (operand.op != Op::kBroadcast && !(constant && !operand.shape.empty())) continue;
      const int32_t original = input;
      input = constant ? uniform(operand.data[0], {}) : operand.inputs[0];
      if (broadcast_result(it) != it.shape) input = original;
    }
  }

  Shape broadcast_result(const Node& it) const {
    bool rows = false;
    Shape result;
    for (const int32_t input : it.inputs) {
      const Shape features = feature_shape(node(input).shape);
      rows = rows || is_row_local(node(input).shape);
      if (features.size() > result.size()) {
        result.insert(result.begin(), features.size() - result.size(), 1);
      }
      for (size_t back = 1; back <= features.size(); ++back) {
        int64_t& size = result[result.size() - back];
        size = std::max(size, features[features.size() - back]);
      }
    }
    if (rows) result.insert(result.begin(), kRows);
    return result;
  }

  std::optional<int32_t> fold(const Node& it) {
    double values[3] = {0, 0, 0};
    for (size_t k = 0; k < it.inputs.size(); ++k) {
      const auto value = uniform_value(it.inputs[k]);
      if (!value) return std::nullopt;
      values[k] = *value;
    }
    return uniform(apply(it.op, values[0], values[1], values[2]), it.shape);
  }

  // (x * c) * d = x * (c d) for constants c and d; the same for -x.
  std::optional<int32_t> merge_factors(const Node& it) {
    for (size_t k = 0; k < 2; ++k) {
      const auto factor = uniform_value(it.inputs[k]);
      if (!factor) continue;
      const Node inner = node(it.inputs[1 - k]);
      if (inner.op == Op::kSum) {  // a mean: the reduction scales what it writes
        Node scaled = inner;
        scaled.data = {*factor * (inner.data.empty() ? 1.0 : inner.data[0])};
        return intern(std::move(scaled));
      }
      if (inner.op == Op::kNeg) {
        return simplified({.op = Op::kMul,
                           .inputs = {inner.inputs[0], uniform(-*factor, {})},
                           .shape = it.shape});
      }
      if (inner.op != Op::kMul) continue;
      for (size_t j = 0; j < 2; ++j) {
        if (const auto other = uniform_value(inner.inputs[j])) {
          return simplified({.op = Op::kMul,
                             .inputs = {inner.inputs[1 - j], uniform(*factor * *other, {})},
                             .shape = it.shape});
        }
      }
    }
    return std::nullopt;
  }

  // a + b where both are products with the same input, or transpositions of the same kind.
  std::optional<int32_t> merged_pair(int32_t a, int32_t b) {
    const Node left = node(a), right = node(b);
    if (left.shape != right.shape || left.op != right.op) return std::nullopt;
    if (left.op == Op::kMatmul && left.inputs[0] == right.inputs[0]) {
      const int32_t weight = simplified({.op = Op::kAdd,
                                         .inputs = {left.inputs[1], right.inputs[1]},
                                         .shape = node(left.inputs[1]).shape});
      return intern({.op = Op::kMatmul,
                     .inputs = {left.inputs[0], weight},
                     .shape = left.shape,
                     .ints = left.ints});
    }
    if (left.op == Op::kTranspose && left.ints == right.ints &&
        node(left.inputs[0]).shape == node(right.inputs[0]).shape) {
      const int32_t sum = simplified({.op = Op::kAdd,
                                      .inputs = {left.inputs[0], right.inputs[0]},
                                      .shape = node(left.inputs[0]).shape});
      return simplified(
          {.op = Op::kTranspose, .inputs = {sum}, .shape = left.shape, .ints = left.ints});
    }
    return std::nullopt;
  }

  // Looks for a mergeable pair in a + b and one sum deeper: (p + q) + r.
  std::optional<int32_t> merge_sum(const Node& it) {
    if (const auto pair = merged_pair(it.inputs[0], it.inputs[1])) {
      return broadcast_to(*pair, it.shape);
    }
    for (size_t k = 0; k < 2; ++k) {
      const Node inner = node(it.inputs[k]);
      if (inner.op != Op::kAdd) continue;
      for (size_t j = 0; j < 2; ++j) {
        if (const auto pair = merged_pair(inner.inputs[j], it.inputs[1 - k])) {
          return simplified(
              {.op = Op::kAdd, .inputs = {inner.inputs[1 - j], *pair}, .shape = it.shape});
        }
      }
    }
    return std::nullopt;
  }

  using Key =
      std::tuple<Op, std::vector<int32_t>, Shape, std::vector<int64_t>, std::vector<double>>;
  const Graph& source_;
  bool rewrite_;
  std::unique_ptr<Graph> graph_;
  std::vector<int32_t> mapped_;
  std::vector<int64_t> loop_number_;
  int64_t loops_used_ = 0;
  std::map<Key, int32_t> known_;
};

}  // namespace

Simplified simplify(const Graph& graph, const std::vector<int32_t>& roots, bool rewrite) {
  return Rewriter(graph, rewrite).run(roots);
}

}  // namespace agora::compute

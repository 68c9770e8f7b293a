#include "base/error.h"
#include "compute/gradient_rules.h"
#include "compute/operations.h"
#include "compute/shape_rules.h"

namespace agora::compute {
namespace {

using It = const GradientOf&;
using Gradient = void (*)(It);
using Flops = double (*)(std::span<const Shape>, const Shape&);

double count(const Shape& shape) { return static_cast<double>(feature_count(shape)); }
double last(const Shape& shape) { return static_cast<double>(shape.back()); }

const Shape kBatch{kRows, 3, 2};

Operation source(Op op, const char* name) {
  return {
      .op = op, .name = name, .family = Family::kSource, .shape = shape_of::told, .constant = true};
}

Operation unary(Op op, const char* name, Gradient gradient, double low = -2, double high = 2) {
  return {.op = op,
          .name = name,
          .family = Family::kElementwise,
          .shape = shape_of::elementwise,
          .gradient = gradient,
          .examples = {{.inputs = {{kBatch, low, high}}}, {.inputs = {{{4}, low, high}}}}};
}

// With repeated rows, with a shared operand, and of shared tensors.
Operation binary(Op op, const char* name, Gradient gradient) {
  return {.op = op,
          .name = name,
          .family = Family::kElementwise,
          .shape = shape_of::elementwise,
          .gradient = gradient,
          .constant = gradient == nullptr,
          .examples = {{.inputs = {{kBatch, -2, 2}, {{kRows, 1, 2}, 0.5, 2}}},
                       {.inputs = {{kBatch, -2, 2}, {{3, 1}, 0.5, 2}}},
                       {.inputs = {{{3, 2}, -2, 2}, {{2}, 0.5, 2}}}}};
}

Operation view(Op op, const char* name, decltype(Operation::shape) shape, Gradient gradient,
               std::vector<Example> examples) {
  return {.op = op,
          .name = name,
          .family = Family::kView,
          .shape = shape,
          .gradient = gradient,
          .examples = std::move(examples)};
}

std::vector<Operation> make_table() {
  return {
      source(Op::kConstant, "constant"),
      source(Op::kInput, "input"),
      source(Op::kVariable, "variable"),
      source(Op::kInverseRows, "1/rows"),
      source(Op::kLoopState, "loop state"),
      source(Op::kLoopStep, "loop step"),
      source(Op::kLoopResult, "loop result"),

      unary(Op::kNeg, "neg", [](It it) { it.to(0, [&] { return -it.g; }); }),
      unary(Op::kExp, "exp", [](It it) { it.to(0, [&] { return it.g * it.y; }); }),
      unary(
          Op::kLog, "log", [](It it) { it.to(0, [&] { return it.g / it.in(0); }); }, 0.2, 3),
      unary(
          Op::kSqrt, "sqrt", [](It it) { it.to(0, [&] { return it.g * 0.5 / it.y; }); }, 0.2, 3),
      unary(Op::kSquare, "square", [](It it) { it.to(0, [&] { return it.g * 2.0 * it.in(0); }); }),
      unary(Op::kAbs, "abs",
            [](It it) {
              it.to(0, [&] { return where(greater_equal(it.in(0), it.zero()), it.g, -it.g); });
            }),
      unary(Op::kTanh, "tanh",
            [](It it) { it.to(0, [&] { return it.g * (1.0 - square(it.y)); }); }),
      unary(Op::kSigmoid, "sigmoid",
            [](It it) { it.to(0, [&] { return it.g * (it.y * (1.0 - it.y)); }); }),
      unary(Op::kSoftplus, "softplus",
            [](It it) { it.to(0, [&] { return it.g * sigmoid(it.in(0)); }); }),
      unary(Op::kRelu, "relu",
            [](It it) {
              it.to(0, [&] { return where(greater(it.y, it.zero()), it.g, it.zero()); });
            }),
      binary(Op::kAdd, "add",
             [](It it) {
               it.to(0, [&] { return it.g; });
               it.to(1, [&] { return it.g; });
             }),
      binary(Op::kSub, "sub",
             [](It it) {
               it.to(0, [&] { return it.g; });
               it.to(1, [&] { return -it.g; });
             }),
      binary(Op::kMul, "mul",
             [](It it) {
               it.to(0, [&] { return it.g * it.in(1); });
               it.to(1, [&] { return it.g * it.in(0); });
             }),
      binary(Op::kDiv, "div",
             [](It it) {
               it.to(0, [&] { return it.g / it.in(1); });
               it.to(1, [&] { return -(it.g * it.y / it.in(1)); });
             }),
      binary(Op::kMin, "minimum", [](It it) { gradient_of::choice(it, it.in(1), it.in(0)); }),
      binary(Op::kMax, "maximum", [](It it) { gradient_of::choice(it, it.in(0), it.in(1)); }),
      binary(Op::kGreater, "greater", nullptr),
      binary(Op::kGreaterEqual, "greater_equal", nullptr),
      binary(Op::kEqual, "equal", nullptr),
      {.op = Op::kWhere,
       .name = "where",
       .family = Family::kElementwise,
       .shape = shape_of::elementwise,
       .gradient =
           [](It it) {
             it.to(1, [&] { return where(it.in(0), it.g, it.zero()); });
             it.to(2, [&] { return where(it.in(0), it.zero(), it.g); });
           },
       .examples = {{.inputs = {{{kRows, 3, 1}, 0, 0, 2}, {kBatch}, {{kRows, 1, 2}}}},
                    {.inputs = {{kBatch, 0, 0, 2}, {{3, 1}}, {{2}}}}}},

      view(Op::kReshape, "reshape", shape_of::reshape,
           [](It it) { it.to(0, [&] { return reshape(it.g, it.in(0).shape()); }); },
           {{.inputs = {{kBatch}}, .told = {kRows, 6}}, {.inputs = {{{4, 3}}}, .told = {2, 6}}}),
      view(Op::kTranspose, "transpose", shape_of::transpose,
           [](It it) {
             it.to(0, [&] { return transpose(it.g, gradient_of::inverse(it.node.ints)); });
           },
           {{.inputs = {{{kRows, 3, 2, 4}}}, .ints = {0, 3, 1, 2}}}),
      view(Op::kSlice, "slice", shape_of::slice,
           [](It it) {
             const int64_t axis = it.node.ints[0];
             it.to(0, [&] {
               return pad(it.g, axis, it.node.ints[1], it.in(0).size(axis) - it.node.ints[2]);
             });
           },
           {{.inputs = {{kBatch}}, .ints = {1, 1, 3}}}),
      view(Op::kBroadcast, "broadcast", shape_of::broadcast,
           [](It it) { it.to(0, [&] { return it.g; }); },
           {{.inputs = {{{kRows, 1, 2}}}, .told = kBatch}, {.inputs = {{{2}}}, .told = kBatch}}),
      {.op = Op::kStopGradient,
       .name = "stop_gradient",
       .family = Family::kView,
       .shape = shape_of::same,
       .constant = true,
       .examples = {{.inputs = {{kBatch}}}}},

      {.op = Op::kConcat,
       .name = "concat",
       .family = Family::kMove,
       .shape = shape_of::concat,
       .gradient = gradient_of::concat,
       .examples = {{.inputs = {{kBatch}, {{kRows, 3, 1}}}, .ints = {2}}}},
      {.op = Op::kPad,
       .name = "pad",
       .family = Family::kMove,
       .shape = shape_of::pad,
       .gradient =
           [](It it) {
             const int64_t axis = it.node.ints[0];
             it.to(0, [&] {
               return slice(it.g, axis, it.node.ints[1], it.node.ints[1] + it.in(0).size(axis));
             });
           },
       .examples = {{.inputs = {{kBatch}}, .ints = {1, 1, 2}}}},
      {.op = Op::kGather,
       .name = "gather",
       .family = Family::kMove,
       .shape = shape_of::gather,
       .gradient =
           [](It it) {
             it.to(0, [&] {
               return record(Op::kScatter, {it.whole(), it.in(1)}, {}, it.in(0).shape());
             });
           },
       .examples = {{.inputs = {{{5, 2}}, {{kRows, 3}, 0, 0, 5}}},
                    {.inputs = {{{5, 2, 3}}, {{kRows}, 0, 0, 5}}}}},
      {.op = Op::kScatter,
       .name = "scatter",
       .family = Family::kMove,
       .shape = shape_of::scatter,
       .gradient = [](It it) { it.to(0, [&] { return gather(it.g, it.in(1)); }); },
       .sums_rows = true,
       .examples = {{.inputs = {{kBatch}, {{kRows, 3}, 0, 0, 5}}, .told = {5, 2}}}},
      {.op = Op::kOneHot,
       .name = "one_hot",
       .family = Family::kMove,
       .shape = shape_of::one_hot,
       .constant = true,
       .examples = {{.inputs = {{{kRows, 2}, 0, 0, 4}}, .ints = {4}}}},

      {.op = Op::kSum,
       .name = "sum",
       .family = Family::kReduction,
       .shape = shape_of::reduction,
       .gradient = [](It it) { it.to(0, [&] { return broadcast(it.g, it.in(0).shape()); }); },
       .examples = {{.inputs = {{kBatch}}, .ints = {1}}, {.inputs = {{{3, 4}}}, .ints = {0, 1}}}},
      {.op = Op::kMaximum,
       .name = "max",
       .family = Family::kReduction,
       .shape = shape_of::reduction,
       .gradient =
           [](It it) {
             it.to(0, [&] {  // ties share the gradient
               const Tensor hit = equal(it.in(0), it.y);
               return it.g / sum(hit, it.node.ints, Keep::kYes) * hit;
             });
           },
       .examples = {{.inputs = {{kBatch}}, .ints = {1}}, {.inputs = {{{3, 4}}}, .ints = {0, 1}}}},
      {.op = Op::kSumRows,
       .name = "sum over rows",
       .family = Family::kReduction,
       .shape = shape_of::sum_rows,
       .gradient = [](It it) { it.to(0, [&] { return broadcast(it.g, it.in(0).shape()); }); },
       .sums_rows = true,
       .examples = {{.inputs = {{kBatch}}}}},
      {.op = Op::kSoftmax,
       .name = "softmax",
       .family = Family::kReduction,
       .shape = shape_of::same,
       .gradient =
           [](It it) {
             it.to(0,
                   [&] { return it.y * (it.g - sum(it.g * it.y, {it.node.ints[0]}, Keep::kYes)); });
           },
       .examples = {{.inputs = {{kBatch, -2, 2}}, .ints = {1}}}},
      {.op = Op::kLogSoftmax,
       .name = "log_softmax",
       .family = Family::kReduction,
       .shape = shape_of::same,
       .gradient =
           [](It it) {
             it.to(0, [&] {
               const Tensor total = sum(it.whole(), {it.node.ints[0]}, Keep::kYes);
               return it.g - softmax(it.in(0), it.node.ints[0]) * total;
             });
           },
       .examples = {{.inputs = {{kBatch, -2, 2}}, .ints = {1}}}},
      {.op = Op::kReflect,
       .name = "reflect",
       .family = Family::kReduction,
       .shape = shape_of::reflect,
       .gradient = [](It it) { it.to(0, [&] { return reflect(it.whole(), it.node.ints); }); },
       .examples = {{.inputs = {{{kRows, 2, 3, 4}}}, .ints = {1, 2}},
                    {.inputs = {{kBatch}}, .ints = {1}}}},

      {.op = Op::kMatmul,
       .name = "matmul",
       .family = Family::kProduct,
       .shape = shape_of::matmul,
       .gradient = gradient_of::matmul,
       .flops = [](auto in, auto& out) { return 2 * count(in[0]) * last(out); },
       .examples = {{.inputs = {{{kRows, 3, 5}}, {{5, 4}}}}, {.inputs = {{{3, 5}}, {{5, 4}}}}}},
      {.op = Op::kOuter,
       .name = "outer",
       .family = Family::kProduct,
       .shape = shape_of::outer,
       .gradient =
           [](It it) {  // (k, n) = sum of x (k) dy (n)
             it.to(0, [&] { return matmul(it.in(1), transpose(it.g)); });
             it.to(1, [&] { return matmul(it.in(0), it.g); });
           },
       .flops = [](auto in, auto&) { return 2 * count(in[0]) * last(in[1]); },
       .sums_rows = true,
       .examples = {{.inputs = {{{kRows, 3, 5}}, {{kRows, 3, 4}}}}}},
      {.op = Op::kBlockMatmul,
       .name = "matmul_by_block",
       .family = Family::kProduct,
       .shape = shape_of::block_matmul,
       .gradient = gradient_of::block_matmul,
       .flops = [](auto in, auto& out) { return 2 * count(in[0]) * last(out); },
       .examples =
           {{.inputs = {{{kRows, 2, 3, 5}}, {{5, 4}}, {{5, 4}}, {{5, 4}}, {{5, 4}}, {{4}}}}}},

      {.op = Op::kConv,
       .name = "conv3x3",
       .family = Family::kImage,
       .shape = shape_of::conv,
       .gradient = gradient_of::conv,
       .flops = [](auto in, auto&) { return 2 * count(in[0]) * count(in[1]) / last(in[0]); },
       .examples = {{.inputs = {{{kRows, 4, 5, 3}}, {{3, 3, 3, 2}}}}}},
      {.op = Op::kConvInput,
       .name = "conv3x3 input gradient",
       .family = Family::kImage,
       .shape = shape_of::conv_input,
       .flops = [](auto in, auto&) { return 2 * count(in[0]) * count(in[1]) / last(in[0]); },
       .examples = {{.inputs = {{{kRows, 4, 5, 2}}, {{3, 3, 3, 2}}}}}},
      {.op = Op::kConvWeight,
       .name = "conv3x3 weight gradient",
       .family = Family::kImage,
       .shape = shape_of::conv_weight,
       .flops = [](auto in, auto&) { return 18 * count(in[0]) * last(in[1]); },
       .sums_rows = true,
       .examples = {{.inputs = {{{kRows, 4, 5, 3}}, {{kRows, 4, 5, 2}}}}}},
      {.op = Op::kPool,
       .name = "max_pool",
       .family = Family::kImage,
       .shape = shape_of::pool,
       .gradient =
           [](It it) {
             it.to(0, [&] { return record(Op::kPoolGradient, {it.in(0), it.whole()}); });
           },
       .examples = {{.inputs = {{{kRows, 5, 4, 3}}}}}},
      {.op = Op::kPoolGradient,
       .name = "max_pool gradient",
       .family = Family::kImage,
       .shape = shape_of::same,
       .examples = {{.inputs = {{{kRows, 5, 4, 3}}, {{kRows, 3, 2, 3}}}}}},
  };
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> table = [] {
    std::vector<Operation> made = make_table();
    for (size_t k = 0; k < made.size(); ++k) {
      CHECK(made[k].op == static_cast<Op>(k), "{} is out of order", made[k].name);
    }
    return made;
  }();
  return table;
}

const Operation& operation(Op op) { return operations()[static_cast<size_t>(op)]; }

Tensor record(Op op, const Tensors& inputs, std::vector<int64_t> ints, Shape told) {
  const Operation& it = operation(op);
  Node node{.op = op, .shape = std::move(told), .ints = std::move(ints)};
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) {
    CHECK(input.graph != nullptr && input.graph == inputs[0].graph, "{}: tensors of two graphs",
          it.name);
    node.inputs.push_back(input.id);
    shapes.push_back(input.shape());
  }
  node.shape = it.shape(it, node, shapes);
  return inputs[0].graph->add(std::move(node));
}

}  // namespace agora::compute

#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compute/graph.h"

// What the core knows of an operation. The table of operation_table.cpp has one entry for each;
// recording, gradients, costs, tests and the benchmark of operations follow from it.
namespace agora::compute {

enum class Family : uint8_t {
  kSource,       // of values: no inputs, or those of a loop
  kElementwise,  // joins others of its shape in one step
  kView,         // the same values under another shape: costs nothing
  kMove,
  kReduction,
  kProduct,
  kImage,
};

// A node whose gradient is asked for.
struct GradientOf {
  Graph& graph;
  const Node& node;
  Tensor y;  // the node
  Tensor g;  // the gradient of the loss by it
  const std::function<bool(int32_t input)>& wanted;
  const std::function<void(int32_t input, Tensor gradient)>& give;

  Tensor in(size_t k) const { return {&graph, node.inputs[k]}; }
  Tensor zero() const { return graph.constant(0.0); }
  Tensor whole() const;  // g, repeated to the node's shape
  // Gradients are recorded only for inputs that lead to a target.
  template <typename Gradient>
  void to(size_t k, Gradient&& gradient) const {
    if (wanted(node.inputs[k])) give(node.inputs[k], gradient());
  }
};

// Inputs, ints and shape that an operation is tried with.
struct Example {
  struct Input {
    Shape shape{};
    double low = -1, high = 1;  // of the values
    int64_t classes = 0;        // > 0: whole numbers below it
  };
  std::vector<Input> inputs{};
  std::vector<int64_t> ints{};
  Shape told{};  // where the inputs do not decide it
};

struct Operation {
  Op op{};
  const char* name = "";
  Family family{};
  // The shape of the result; a UserError in the operation's name where the inputs do not fit.
  // node.shape is what it was told.
  Shape (*shape)(const Operation& operation, const Node& node, std::span<const Shape> inputs);
  void (*gradient)(const GradientOf& node) = nullptr;  // null: it has none
  bool constant = false;                               // its gradient is zero
  // Floating-point operations of products, by the features of one row.
  double (*flops)(std::span<const Shape> inputs, const Shape& output) = nullptr;
  bool sums_rows = false;  // from row-local inputs to a shared result
  std::vector<Example> examples{};
};

const Operation& operation(Op op);
const std::vector<Operation>& operations();  // all, in the order of Op

// Records an operation: the table says which shape it has.
Tensor record(Op op, const Tensors& inputs, std::vector<int64_t> ints = {}, Shape told = {});

}  // namespace agora::compute

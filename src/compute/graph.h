#pragma once
#include <deque>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "compute/shape.h"

// A graph is recorded once and compiled into programs (program.h):
//
//   Graph g;
//   Tensor bids = g.input("bids", {kRows, 2});
//   Tensor w = g.parameter("w", {2, 100}), b = g.parameter("b", {100});
//   Tensor hidden = tanh(matmul(bids, w) + b);                 // operations.h
//   Tensor loss = mean(square(hidden));
//   Tensor dw = gradients(loss, {w})[0];                       // gradients.h
namespace agora::compute {

// operation_table.cpp says what each is.
enum class Op : uint8_t {
  // Sources.
  kConstant,     // data (one value stands for all elements)
  kInput,        // set before a run
  kVariable,     // state that lives in Variables; assigned by a program's updates
  kInverseRows,  // 1 / number of rows of this run
  kLoopState,    // ints: loop, index
  kLoopStep,     // ints: loop; 1, 2, ... as (rows)
  kLoopResult,   // ints: loop, index; inputs: all initial states, then all next states
  // Elementwise.
  kNeg,
  kExp,
  kLog,
  kSqrt,
  kSquare,
  kAbs,
  kTanh,
  kSigmoid,
  kSoftplus,
  kRelu,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kGreater,       // a > b ? 1 : 0
  kGreaterEqual,  // a >= b ? 1 : 0
  kEqual,         // a == b ? 1 : 0
  kWhere,         // inputs: condition, a, b; condition != 0 ? a : b
  // The same values seen under another shape.
  kReshape,
  kTranspose,  // ints: source axis of each axis
  kSlice,      // ints: axis, begin, end
  kBroadcast,  // to the node's shape
  kStopGradient,
  // Moving values.
  kConcat,   // ints: axis
  kPad,      // ints: axis, zeros before, zeros after
  kGather,   // inputs: shared table (n, s...), index (rows, t...); (rows, t..., s...)
  kScatter,  // the gradient of kGather: inputs: values, index
  kOneHot,   // inputs: index (rows, t...); ints: depth; (rows, t..., depth)
  // Reductions; the axes are kept with size 1.
  kSum,         // ints: feature axes; data: a factor that the simplifier found
  kMaximum,     // ints: feature axes
  kSumRows,     // row-local to shared
  kSoftmax,     // ints: axis
  kLogSoftmax,  // ints: axis
  kReflect,     // ints: feature axes
  // Products.
  kMatmul,       // (..., k) x shared (k, n)
  kOuter,        // (rows, s..., k), (rows, s..., n) -> shared (k, n): summed over rows and s
  kBlockMatmul,  // inputs: x (rows, s..., a, b, k), four weights (k, n), perhaps a bias (n)
  // Images: (rows, height, width, channels).
  kConv,          // inputs: x, w (3, 3, in, out)
  kConvInput,     // inputs: dy, w
  kConvWeight,    // inputs: x, dy
  kPool,          // max-pool 3x3, stride 2, padding 1
  kPoolGradient,  // inputs: x, dy
};

// Fills the initial values of a variable of the given shape.
using Initializer = std::function<void(std::span<double> values, const Shape& shape, Rng& rng)>;
Initializer zeros();
Initializer filled(double value);

enum class Storage : uint8_t { kReal, kIndex, kByte };  // how an input is handed over

struct Node {
  Op op{};
  std::vector<int32_t> inputs{};
  Shape shape{};
  std::vector<int64_t> ints{};
  std::vector<double> data{};  // kConstant: one value or all; kInput: the scale of bytes
  std::string name{};          // of inputs and variables, and what .named() gave
  Storage storage = Storage::kReal;
  bool trainable = false;
};

class Graph;

// A handle to a node of a graph.
struct Tensor {
  Graph* graph = nullptr;
  int32_t id = -1;

  const Node& node() const;
  const Shape& shape() const { return node().shape; }
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  int64_t size(int64_t axis) const;  // negative axes count from the end
  bool row_local() const { return is_row_local(shape()); }
  // Names the node in errors, such as that of a non-finite loss.
  Tensor named(std::string_view name) const;
};
using Tensors = std::vector<Tensor>;

struct Loop {
  int64_t times = 0;
  std::vector<int32_t> initial, state, next, result;
  int32_t step = -1;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Values given before each run; shapes with kRows first are one entry per row.
  Tensor input(std::string_view name, Shape shape);
  Tensor index_input(std::string_view name, Shape shape);                     // int32
  Tensor byte_input(std::string_view name, Shape shape, double scale = 1.0);  // uint8 * scale
  // State. A parameter is a variable that optimisers train.
  Tensor parameter(std::string_view name, Shape shape, Initializer initial = zeros());
  Tensor variable(std::string_view name, Shape shape, Initializer initial = zeros());
  Tensor constant(double value);
  Tensor constant(std::vector<double> values, Shape shape);
  Tensor inverse_rows();

  Tensors parameters();
  Tensor find(std::string_view name);  // an input or a variable

  // The pieces that operations.h, gradients.h and the compiler are made of.
  Tensor add(Node node);
  const Node& node(int32_t id) const { return nodes_[static_cast<size_t>(id)]; }
  Node& mutable_node(int32_t id) { return nodes_[static_cast<size_t>(id)]; }
  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
  const std::vector<Loop>& loops() const { return loops_; }
  std::vector<Loop>& mutable_loops() { return loops_; }
  const Initializer& initializer(int32_t id) const;
  // "tanh 'hidden' (rows, 100)": how errors call a node.
  std::string describe(int32_t id) const;

 private:
  Tensor add_named(Node node);
  std::deque<Node> nodes_;  // references stay valid while recording
  std::vector<Loop> loops_;
  std::vector<std::pair<int32_t, Initializer>> initializers_;
  int32_t inverse_rows_ = -1;
};

const char* op_name(Op op);
bool is_elementwise(Op op);

}  // namespace agora::compute

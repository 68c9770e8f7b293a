#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/graph.h"

// What a program does, for any device: phases of steps on planned memory.
//
// Phase k is shared steps (parameters and batch sums, once) followed by row steps (once per
// tile), then, where the device has them, steps of images (each once for all rows). Reductions over
// rows in the row steps of phase k are combined at the start of phase k + 1.
namespace agora::compute {

enum class Space : uint8_t {
  kScratch,       // row-local, within one phase; offsets count features
  kKept,          // row-local, until a later phase; offsets count features
  kImage,         // row-local, row after row, of half precision; offsets count features
  kShared,        // offsets count elements
  kVariable,      // current values of a shared variable
  kNextVariable,  // its values after the run
};

struct Buffer {
  Space space = Space::kScratch;
  int32_t variable = -1;
  int64_t size = 0;    // features or elements
  int64_t offset = 0;  // where it starts in its space
  // While planning: when it lives, as phase and position; whether a step outside needs it.
  int32_t phase = 0, first = 0, last = 0;
  bool used = false, across_phases = false;
};

// A tensor as a step sees it: strides and offset count features of row-local buffers, elements of
// shared ones. A uniform view is a constant without memory.
struct View {
  int32_t buffer = -1;
  int64_t offset = 0;
  Shape shape{};  // features only
  std::vector<int64_t> strides{};
  bool rows = false;
  bool uniform = false;
  double value = 0;

  int64_t count() const { return feature_count(shape); }
  bool dense() const;
};

// One elementwise instruction of a fused group. An operand k >= 0 is input k of the group, k <= -2
// the result of instruction -2 - k, -1 none. Where a group follows an operation in its step, the
// operation itself is instruction 0.
struct Instruction {
  Op op{};
  int32_t a = -1, b = -1, c = -1;
  int32_t node = -1;
};

enum class StepKind : uint8_t {
  kElementwise,
  kLoadRows,   // row-major host memory of an input or variable to a tile
  kStoreRows,  // the reverse, to an output or variable
  kLoop,
  kOperation,  // what `op` says
};

struct Step {
  StepKind kind = StepKind::kOperation;
  Op op{};
  int32_t node = -1;                // for messages
  std::vector<View> inputs{};       // of a group: broadcast to its shape
  std::vector<View> outputs{};      // of a group: one per instruction; buffer < 0 where not needed
  std::vector<int64_t> ints{};      // as the node's
  std::vector<Instruction> code{};  // of a group
  Op activation = Op::kReshape;     // of a matmul: kReshape for none
  bool bias = false;                // of a matmul: inputs[2]
  bool accumulate = false;          // of a matmul: the output holds what it starts from
  double scale = 1;                 // of a sum
  int32_t index = -1;     // of a load or store: input, output or variable; of images: input read
  bool variable = false;  // of a load or store
  int64_t times = 1;      // of a loop; outputs[0] is its step counter
  int32_t stack = 0;      // of images: steps of one number run as one, an image at a time
  // Of a loop; of another step, what computes its first input where it is read.
  std::vector<Step> body{};
};

struct Phase {
  std::vector<Step> shared, rows, images{};
  // Sums over rows are accumulated per part in [begin, end) of the shared space.
  int64_t partial_begin = 0, partial_end = 0;
};

struct PlannedInput {
  std::string name{};
  Shape shape{};
  Storage storage = Storage::kReal;
  double scale = 1.0;
  int64_t offset = -1;  // of a shared input in the shared space; row inputs live with the host
};

struct PlannedOutput {
  std::string name{};
  Shape shape{};
  View view{};  // of a shared output
};

struct PlannedVariable {
  std::string name{};
  Shape shape{};
  bool updated = false;
};

struct PlannedConstant {
  int64_t offset = 0;
  std::vector<double> values{};
};

struct Plan {
  std::unique_ptr<Graph> graph;  // simplified; steps name its nodes
  std::vector<Phase> phases{};
  std::vector<Buffer> buffers{};
  std::vector<PlannedInput> inputs{};
  std::vector<PlannedOutput> outputs{};
  std::vector<PlannedVariable> variables{};
  std::vector<PlannedConstant> constants{};
  bool small_tiles = false;   // what few rows gain by
  int64_t inverse_rows = -1;  // offset in the shared space
  int64_t scratch_features = 0, kept_features = 0, image_features = 0, shared_elements = 0;
  double flops_per_row = 0;  // of the matrix products, counting loops
  double shared_flops = 0;
};

// What the kernels of a device ask of a plan, and what they do in one step.
struct PlanLimits {
  int64_t group_instructions = 48;     // of an elementwise group, at most
  int64_t alignment = 1;               // where shared tensors may start, in elements
  bool steps_along_last_axis = false;  // operands: none is repeated there, shared ones have no gaps
  bool fuses_epilogues = false;        // a product with sums, bias and activation
  bool fuses_reflections = false;      // reflect, tanh or times its slope, reflect
  bool groups_follow = false;          // a group may follow a product or reduction in its step
  bool pads_at_once = false;           // a pad is one step instead of zeros and a copy
  bool images = false;                 // networks of images run step by step (images.h)
  int64_t stack_bytes = 0;             // of fast memory for stacks of them; 0: none
  // Scratch that may be taken so that steps which do not depend on each other share no memory.
  int64_t roomy_features = 0;
  // Up to so many rows tiles may be small and hold four times as much of each row; 0: never.
  int64_t few_rows = 0;
};

struct PlanRequest {
  std::vector<std::pair<std::string, int32_t>> outputs{};
  std::vector<std::pair<int32_t, int32_t>> updates{};  // variable, value
  bool simplify = true;
  PlanLimits limits{};
  int64_t rows = 0;  // the most of a run; 0: not known
};

Plan make_plan(const Graph& graph, const PlanRequest& request);
std::string to_string(const Plan& plan);

}  // namespace agora::compute

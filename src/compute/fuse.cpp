#include <algorithm>
#include <functional>
#include <set>

#include "compute/images.h"
#include "compute/lower.h"

// What joins a product or a reflection in one step, found before the first step, and what follows
// one in its step.
namespace agora::compute {
namespace {

bool is_activation(Op op) {
  return op == Op::kTanh || op == Op::kSigmoid || op == Op::kRelu || op == Op::kSoftplus;
}

}  // namespace

// Finds matmul -> sums -> activation where nobody else looks at what is in between.
void Lowering::find_epilogues() {
  std::vector<int32_t> user(static_cast<size_t>(graph_.size()), -1);
  for (int32_t id = 0; id < graph_.size(); ++id) {
    for (const int32_t input : graph_.node(id).inputs) user[static_cast<size_t>(input)] = id;
  }
  for (int32_t id = 0; id < graph_.size(); ++id) {
    const Node& matmul = graph_.node(id);
    if (matmul.op != Op::kMatmul || !is_row_local(matmul.shape)) continue;
    const int64_t weights = feature_count(graph_.node(matmul.inputs[1]).shape);
    wide_products_ = wide_products_ || weights >= kWideProduct;
    const auto only_user = [&](int32_t of) -> const Node* {
      if (!limits_.fuses_epilogues) return nullptr;
      const int32_t next = user[static_cast<size_t>(of)];
      if (uses_[static_cast<size_t>(of)] != 1 || next < 0) return nullptr;
      if (fused_into_[static_cast<size_t>(next)] >= 0) return nullptr;  // of another product
      const Node& node = graph_.node(next);
      return node.shape == matmul.shape ? &node : nullptr;
    };
    const auto step_on = [&](int32_t& at) { at = user[static_cast<size_t>(at)]; };
    // Sums before the activation: one bias, and row-local tensors, which the product starts from.
    int32_t last = id, with_addends = id;
    bool bias = false, addends = false;
    while (const Node* sum = only_user(with_addends)) {
      if (sum->op != Op::kAdd) break;
      const Node& other =
          graph_.node(sum->inputs[0] == with_addends ? sum->inputs[1] : sum->inputs[0]);
      const bool is_bias = !is_row_local(other.shape) && !other.shape.empty() &&
                           other.shape.back() == matmul.shape.back() &&
                           feature_count(other.shape) == other.shape.back() &&
                           !(other.op == Op::kConstant && other.data.size() == 1);
      if (is_bias ? bias : !is_row_local(other.shape)) break;
      (is_bias ? bias : addends) = true;
      step_on(with_addends);
      if (!addends) last = with_addends;
    }
    if (const Node* next = only_user(with_addends); next != nullptr && is_activation(next->op)) {
      last = with_addends;
      step_on(last);
    }
    for (int32_t step = id; step != last; step = user[static_cast<size_t>(step)]) {
      fused_into_[static_cast<size_t>(step)] = last;
    }
    chain_start_[static_cast<size_t>(last)] = id;
  }
}

// Finds reflect -> tanh -> reflect, and reflect -> * (1 - square(y)) -> reflect of its gradient.
void Lowering::find_reflections() {
  const auto only_one_uses = [&](int32_t id) { return uses_[static_cast<size_t>(id)] == 1; };
  const auto is = [&](int32_t id, Op op) { return graph_.node(id).op == op; };
  const auto start_of = [&](int32_t id) {
    return is(id, Op::kReflect) && only_one_uses(id) && fused_into_[static_cast<size_t>(id)] < 0;
  };
  const auto together = [&](int32_t a, int32_t b) {
    const size_t first = static_cast<size_t>(a), second = static_cast<size_t>(b);
    return staging_.stage[first] == staging_.stage[second] &&
           staging_.loop[first] == staging_.loop[second];
  };
  for (int32_t id = 0; id < graph_.size(); ++id) {
    if (!limits_.fuses_reflections) break;
    const Node& node = graph_.node(id);
    const size_t at = static_cast<size_t>(id);
    if (node.op == Op::kTanh && start_of(node.inputs[0])) {
      chain_start_[at] = node.inputs[0];
      fused_into_[static_cast<size_t>(node.inputs[0])] = id;
    } else if (node.op == Op::kMul) {
      for (size_t k = 0; k < 2; ++k) {
        const int32_t start = node.inputs[k], slope = node.inputs[1 - k];
        if (chain_start_[at] >= 0 || !start_of(start) || !is(slope, Op::kSub)) continue;
        const Node& one = graph_.node(graph_.node(slope).inputs[0]);
        const int32_t power = graph_.node(slope).inputs[1];
        const bool minus_square = one.op == Op::kConstant && one.data == std::vector<double>{1} &&
                                  is(power, Op::kSquare) && only_one_uses(slope) &&
                                  only_one_uses(power);
        if (!minus_square || graph_.node(power).shape != node.shape || !together(start, id) ||
            !together(power, id)) {
          continue;
        }
        chain_start_[at] = start;
        slope_of_[at] = graph_.node(power).inputs[0];
        for (const int32_t part : {start, slope, power}) {
          fused_into_[static_cast<size_t>(part)] = id;
        }
      }
    } else if (node.op == Op::kReflect && fused_into_[at] < 0) {
      // The reflection of the end of a chain belongs to it; others stand alone unless a later
      // node continues them.
      const size_t from = static_cast<size_t>(node.inputs[0]);
      const int32_t start = chain_start_[from];
      const bool continues = start >= 0 && start != node.inputs[0] && is(start, Op::kReflect) &&
                             graph_.node(start).ints == node.ints && reflected_[from] < 0 &&
                             together(node.inputs[0], id);
      if (!continues) continue;
      reflected_[from] = id;
      fused_into_[at] = node.inputs[0];
    }
  }
  for (int32_t id = 0; id < graph_.size(); ++id) {
    const size_t at = static_cast<size_t>(id);
    if (is(id, Op::kReflect) && fused_into_[at] < 0) chain_start_[at] = id;
  }
}

// Where all that reads the result of an operation is elementwise, it follows at once: the node to
// emit next for that, or -1.
int32_t Lowering::following(const std::vector<int32_t>& waiting, int32_t loop) const {
  // Between narrow products it did not pay.
  if (!limits_.groups_follow || !wide_products_ || open_group_ < 0) return -1;
  const Step& step = (*steps_)[static_cast<size_t>(open_group_)];
  if (step.kind != StepKind::kOperation || is_image_operation(step.op)) return -1;
  const auto is_result = [&](int32_t input) {
    const size_t at = static_cast<size_t>(input);
    return uses_[at] == 1 && known_[at] && !pending_[at] && !views_[at].uniform &&
           std::any_of(step.outputs.begin(), step.outputs.end(),
                       [&](const View& it) { return it.buffer == views_[at].buffer; });
  };
  std::set<int32_t> joining;
  // The first of what has to be emitted so that `id` can join.
  const std::function<int32_t(int32_t)> towards = [&](int32_t id) -> int32_t {
    const Node& node = graph_.node(id);
    const bool inside = staging_.loop[static_cast<size_t>(id)] == loop;
    if (!inside || (!is_view(node.op) && !fits_open_group(id))) return -1;
    int32_t first = id;
    for (const int32_t input : node.inputs) {
      if (!pending_[static_cast<size_t>(input)] || !joining.insert(input).second) continue;
      const int32_t before = towards(input);
      if (before < 0) return -1;
      if (first == id) first = before;
    }
    return first;
  };
  for (const int32_t id : waiting) {
    const Node& node = graph_.node(id);
    if (!is_elementwise(node.op) ||
        std::none_of(node.inputs.begin(), node.inputs.end(), is_result)) {
      continue;
    }
    joining.clear();
    if (const int32_t next = towards(id); next >= 0) return next;
  }
  return -1;
}

}  // namespace agora::compute
